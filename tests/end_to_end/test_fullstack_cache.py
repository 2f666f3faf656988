"""fullstack with a response cache: memory answers for a user until the user changes, under both paths."""
import httpx
import pytest

from fullstack_process import FullStack


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """One program for the tests of this file."""
    with FullStack(tmp_path_factory.mktemp("cache"), "--set", "cache.http.enabled=true", shared=True) as running:
        yield running


def added(program, name):
    """A user, by its path."""
    made = httpx.post(program.url("/users"), json={"name": name, "email": f"{name}@example.org"})
    assert made.status_code == 201
    return made.headers["location"]


def test_a_user_is_kept_until_it_is_changed_under_either_path(program):
    path = added(program, "ada")
    for base in ("", "/api"):
        assert "fwd=uri-miss; stored" in httpx.get(program.url(base + path)).headers["cache-status"]
        again = httpx.get(program.url(base + path))
        assert again.headers["cache-status"] == "katana; hit"
        assert again.json()["name"] == "ada"
    changed = httpx.put(program.url(path), json={"name": "grace", "email": "grace@example.org"})
    assert changed.status_code == 200
    for base in ("", "/api"):
        now = httpx.get(program.url(base + path))
        assert now.json()["name"] == "grace" and "stored" in now.headers["cache-status"]
    tag = httpx.get(program.url(path)).headers["etag"]
    assert httpx.get(program.url(path), headers={"If-None-Match": tag}).status_code == 304
    assert httpx.delete(program.url("/api" + path)).status_code == 204
    assert httpx.get(program.url(path)).status_code == 404


def test_lists_and_requests_of_somebody_are_not_kept(program):
    path = added(program, "bob")
    httpx.get(program.url(path))
    assert httpx.get(program.url(path), headers={"Cookie": "a=b"}).headers["cache-status"] == "katana; fwd=bypass"
    first = httpx.get(program.url("/users?limit=100")).json()
    added(program, "carl")
    assert len(httpx.get(program.url("/users?limit=100")).json()["users"]) == len(first["users"]) + 1
    figures = httpx.get(program.url("/metrics")).text
    assert 'katana_cache_entries{cache="http"}' in figures and "katana_http_cache_hits_total" in figures


# SPDX-License-Identifier: Apache-2.0
