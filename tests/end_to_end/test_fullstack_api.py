"""fullstack's API: users, documents, conditions, paging, and a problem document for whatever is wrong."""
import json
import re
import socket

import pytest

from fullstack_process import FullStack


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def api(tmp_path_factory, request):
    """One program for the tests of this file, on each database; each test makes separate users."""
    flags = ()
    if request.param == "postgres":
        flags = ("--database", request.getfixturevalue("postgres").new_database())
    with FullStack(tmp_path_factory.mktemp("api"), *flags, shared=True) as running:
        yield running


@pytest.fixture
def user(api, request):
    """A user that was just added, as (path, reply)."""
    reply = api.add_user("Ada", f"{request.node.originalname}@example.org")
    assert reply.status_code == 201, reply.text
    return reply.headers["location"], reply


def check_problem(reply, status):
    """A problem document (RFC 9457) of this status; return it."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["status"] == status and problem["title"] and problem["detail"], problem
    return problem


def test_what_a_client_sends_is_a_value_and_never_sql(api):
    """In content, in the path and in the query: it is kept, or refused, and every table is there afterwards."""
    for number, text in enumerate(("Robert'); DROP TABLE users;--", "' OR '1'='1", "\\'; DELETE FROM users; --", "$1",
                                   "%' --", "name\u2019; SELECT pg_sleep(9)", '"users"."id"')):
        added = api.add_user(text, f"sql{number}@example.org")
        assert added.status_code == 201 and added.json()["name"] == text, added.text
        assert api.client.get(added.headers["location"]).json()["name"] == text
    for path in ("/api/users/1 OR 1=1", "/api/users/1;DROP TABLE users", "/api/users/1'--"):
        assert api.client.get(path).status_code in (400, 404), path
    for query in ("after=1 OR 1=1", "limit=1;DROP TABLE users", "after=1'--"):
        check_problem(api.client.get(f"/api/users?{query}"), 400)
    names = {user["name"] for user in api.client.get("/api/users?limit=100").json()["users"]}
    assert "' OR '1'='1" in names


@pytest.mark.parametrize("base", ["", "/api"])
def test_a_user_is_added_read_replaced_and_deleted(api, base):
    """The five endpoints, under /api and without it."""
    added = api.add_user("Grace", f"grace{base.strip('/')}@example.org", f"{base}/users")
    assert added.status_code == 201
    path = added.headers["location"]
    assert re.fullmatch(base + r"/users/\d+", path)
    user = added.json()
    assert set(user) == {"id", "name", "email", "created_at", "updated_at"} and path.endswith(f"/{user['id']}")

    read = api.client.get(path)
    assert (read.status_code, read.json()) == (200, user)
    assert read.headers["etag"] == added.headers["etag"]

    changed = api.client.put(path, json={"name": "Grace Hopper", "email": user["email"]})
    assert (changed.status_code, changed.json()["name"]) == (200, "Grace Hopper")
    assert changed.headers["etag"] != read.headers["etag"]
    assert api.client.get(path).json() == changed.json()

    assert api.client.delete(path).status_code == 204
    check_problem(api.client.get(path), 404)


def test_pages_follow_one_another_and_have_everyone_once(api):
    """Pages are by key, not by offset: a user that is added or deleted meanwhile does not shift the others."""
    ids = [api.add_user(f"Page {number}", f"page{number}@example.org").json()["id"] for number in range(5)]
    seen, path = [], f"/api/users?limit=2&after={ids[0] - 1}"
    while path:
        page = api.client.get(path)
        assert page.status_code == 200 and len(page.json()["users"]) <= 2
        seen += [each["id"] for each in page.json()["users"]]
        path = page.json()["next"]
        link = page.headers.get("link")
        assert link == (f'<{path}>; rel="next"' if path else None)
    assert seen == ids
    assert api.client.get("/api/users", params={"after": 2**62}).json() == {"users": [], "next": None}


@pytest.mark.parametrize("query, words", [
    ("limit=0", "'limit': expected 1 to 100, got 0"), ("limit=101", "got 101"), ("limit=many", "a whole number"),
    ("after=-1", "'after': expected at least 0"), ("limit=1&limit=2", "more than once"), ("page=2", "'page'")])
def test_a_query_that_is_wrong_is_refused(api, query, words):
    """The problem has the parameter's name and the expected values."""
    assert words in check_problem(api.client.get(f"/api/users?{query}"), 400)["detail"]


def test_an_address_belongs_to_one_user(api, user):
    """409 whatever its case, for a new user and for one that changes."""
    email = user[1].json()["email"]
    check_problem(api.add_user("Other", email), 409)
    check_problem(api.add_user("Other", email.upper()), 409)
    other = api.add_user("Other", "other@example.org")
    check_problem(api.client.put(other.headers["location"], json={"name": "Other", "email": email}), 409)


def test_content_that_does_not_fit_is_named_place_by_place(api):
    """422, every fault with its pointer."""
    problem = check_problem(api.client.post("/api/users", json={"name": "", "email": "nowhere"}), 422)
    assert {each["pointer"] for each in problem["errors"]} == {"/name", "/email"}
    problem = check_problem(api.client.post("/api/users", json={"name": "Ada"}), 422)
    assert [each["pointer"] for each in problem["errors"]] == ["/email"]
    check_problem(api.client.post("/api/users", json=["Ada"]), 422)


def test_content_that_is_no_json_too_large_or_of_another_type_is_refused(api):
    """400, 413, 415."""
    as_json = {"content-type": "application/json"}
    check_problem(api.client.post("/api/users", content='{"name":', headers=as_json), 400)
    check_problem(api.client.post("/api/users", content=b" " * 20_000, headers=as_json), 413)
    check_problem(api.client.post("/api/users", content="name=Ada", headers={"content-type": "text/plain"}), 415)
    check_problem(api.client.post("/api/users", content="{}"), 415)


def test_paths_methods_and_types_that_are_not_served_are_refused(api, user):
    """404, 405 with Allow, 406."""
    check_problem(api.client.get("/api/nothing"), 404)
    check_problem(api.client.get("/api/users/9999999"), 404)
    check_problem(api.client.get("/api/users/seven"), 400)
    check_problem(api.client.put("/api/users/9999999", json={"name": "N", "email": "n@example.org"}), 404)
    refused = api.client.patch(user[0], json={})
    check_problem(refused, 405)
    assert set(refused.headers["allow"].split(", ")) >= {"GET", "PUT", "DELETE"}
    check_problem(api.client.get(user[0], headers={"accept": "text/plain"}), 406)
    check_problem(api.client.post("/api/data", json={}, headers={"accept": "image/*"}), 406)
    assert api.client.get(user[0], headers={"accept": "text/html, application/*;q=0.1"}).status_code == 200


def test_a_browser_gets_a_page_for_a_path_without_a_route(api):
    """Other clients get the problem document."""
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    page = api.client.get("/nowhere", headers=browser)
    assert page.status_code == 404 and page.headers["content-type"].startswith("text/html"), page.text
    assert "No route matches GET /nowhere" in page.text
    check_problem(api.client.get("/nowhere"), 404)


def test_put_and_delete_may_be_repeated(api, user):
    """The same request again has the same answer and changes nothing."""
    path, _ = user
    content = {"name": "Ada King", "email": "ada.king@example.org"}
    first, second = (api.client.put(path, json=content) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.headers["etag"] == second.headers["etag"] and first.json() == second.json()
    assert [api.client.delete(path).status_code for _ in range(3)] == [204, 204, 204]
    check_problem(api.client.delete("/api/users/9999999"), 404)


def test_a_put_with_if_match_changes_only_what_was_read(api, user):
    """412 when another client was faster."""
    path, added = user
    tag, email = added.headers["etag"], added.json()["email"]
    changed = api.client.put(path, json={"name": "Second", "email": email}, headers={"if-match": tag})
    assert changed.status_code == 200
    stale = {"if-match": tag}
    check_problem(api.client.put(path, json={"name": "Third", "email": email}, headers=stale), 412)
    check_problem(api.client.delete(path, headers=stale), 412)
    assert api.client.get(path).json()["name"] == "Second"
    several = {"if-match": f'"x", {changed.headers["etag"]}'}
    assert api.client.put(path, json={"name": "Fourth", "email": email}, headers=several).status_code == 200
    weak = {"if-match": "W/" + api.client.get(path).headers["etag"]}
    check_problem(api.client.put(path, json={"name": "Fifth", "email": email}, headers=weak), 412)
    assert api.client.put(path, json={"name": "Sixth", "email": email}, headers={"if-match": "*"}).status_code == 200


def test_a_get_with_if_none_match_sends_nothing_that_is_known(api, user):
    """304 with the tag, and the user again once it has changed."""
    path, added = user
    known = {"if-none-match": "W/" + added.headers["etag"]}
    same = api.client.get(path, headers=known)
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", added.headers["etag"])
    api.client.put(path, json={"name": "Changed", "email": added.json()["email"]})
    assert api.client.get(path, headers=known).status_code == 200


def test_a_document_is_stored_and_reads_back_as_it_was(api):
    """Any JSON object; other bodies are refused."""
    document = {"sensor": "roof", "values": [1, 2.5, None, True], "größe": {"ä": "\u0000\U0001f600"}, "big": 2**63}
    stored = api.client.post("/api/data", json=document)
    assert stored.status_code == 201, stored.text
    read = api.client.get(stored.headers["location"])
    assert read.json() == document and len(read.content) == stored.json()["bytes"]
    check_problem(api.client.post("/api/data", json=[1]), 422)
    check_problem(api.client.post("/api/data", json={"x": "y" * 70_000}), 413)
    check_problem(api.client.get("/api/data/9999999"), 404)


def test_head_has_the_fields_of_get(api, user):
    """And no content."""
    head, get = api.client.head(user[0]), api.client.get(user[0])
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == get.headers["etag"]
    assert head.headers["content-length"] == get.headers["content-length"]


def test_health_readiness_and_metrics_are_served(api):
    """Each check of readiness by name."""
    assert api.client.get("/health").json()["status"] == "pass"
    ready = api.client.get("/ready")
    assert ready.status_code == 200
    assert {each["name"] for each in ready.json()["checks"]} >= {"accepting", "database"}
    metrics = api.client.get("/metrics").text
    assert "katana_http_requests_total" in metrics
    assert "\nkatana_log_warnings_dropped_total 0\n" in metrics


def test_the_description_names_every_route(api):
    """And every reference in it leads somewhere."""
    operations = 0
    others_of_api = {"/api/data", "/api/data/{id}", "/health", "/ready", "/metrics"}
    for path, base, others in (("/openapi.json", "/api", others_of_api), ("/openapi-root.json", "", set())):
        document = api.client.get(path).json()
        assert document["openapi"].startswith("3.1.")
        assert set(document["paths"]) == {base + "/users", base + "/users/{id}"} | others
        assert set(document["paths"][base + "/users"]) == {"get", "post"}
        assert set(document["paths"][base + "/users/{id}"]) == {"get", "put", "delete"}
        ids = [each["operationId"] for item in document["paths"].values() for each in item.values()]
        assert len(ids) == len(set(ids))
        operations += len(ids)
        for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document)):
            found = document
            for step in reference.split("/"):
                found = found[step]
    assert operations == 15


def test_the_dashboard_loads_nothing_from_elsewhere(api):
    """Its files are served here, and its policy allows nothing else."""
    page = api.client.get("/")
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    files = re.findall(r'(?:src|href)="(dashboard[^"]*)"', page.text)
    assert sorted(files) == ["dashboard.css", "dashboard.js"]
    for path in files:
        file = api.client.get("/" + path)
        assert file.status_code == 200
        assert not re.search(r"https?://|//[a-z]+\.", file.text), path
        assert api.client.get("/" + path, headers={"if-none-match": file.headers["etag"]}).status_code == 304
    assert not re.search(r"https?://", page.text)


def read_events(api, names, last_event_id=None):
    """Return the events of the dashboard up to where each of the names has come, as [(id, name, data)]."""
    with socket.create_connection(("127.0.0.1", api.port), 20) as connection:
        again = f"Last-Event-ID: {last_event_id}\r\n" if last_event_id else ""
        connection.sendall(f"GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n{again}\r\n".encode())
        told, events = b"", []
        while not names <= {name for _, name, _ in events}:
            piece = connection.recv(65536)
            assert piece, told
            told += piece
            events = re.findall(r"id: (\S+)\nevent: (\w+)\ndata: (.*)\n\n", re.sub(r"\r\n[0-9a-f]+\r\n", "",
                                                                                told.decode("utf-8", "ignore")))
    assert b"content-type: text/event-stream" in told.lower()
    return events


def test_the_dashboard_is_fed_by_events(api):
    """Figures once a second, log lines as they come; a reader that reconnects gets only new lines."""
    api.client.get("/api/users")
    events = read_events(api, {"figures"})
    identity, _, data = [each for each in events if each[1] == "figures"][-1]     # a line of the log may follow it
    figures = json.loads(data)
    assert len(figures["reactors"]) == 2 and figures["requests"] > 0 and figures["database"]["state"] == ""
    assert {each["name"] for each in figures["checks"]} >= {"database"}
    assert all(each["status"] in ("pass", "unknown") for each in figures["checks"])
    later = read_events(api, {"figures"}, identity)
    assert identity not in [each[0] for each in later]

# SPDX-License-Identifier: Apache-2.0
