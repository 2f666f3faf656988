"""examples/realworld: the requests of RealWorld's Postman collection, in its order, and further rules of its
specification.

The first test sends the 32 requests of the collection (api/Conduit.postman_collection.json of gothinkster/realworld)
and makes each of its assertions. It also asserts their number: none can be left out by mistake.
"""
import concurrent.futures
import pathlib
import re
import sqlite3

import httpx
import pytest

from fullstack_process import QUICK, environment, flags_of
from program_process import Program, built

PROGRAM = "realworld"
# The collection's: with a fraction of a second.
ISO_8601 = re.compile(r"\d{4,}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d.\d+(?:[+-][0-2]\d:[0-5]\d|Z)")
USER = ("email", "username", "bio", "image", "token")
PROFILE = ("username", "bio", "image", "following")
ARTICLE = ("title", "slug", "body", "createdAt", "updatedAt", "description", "tagList", "author", "favorited",
           "favoritesCount")
COLLECTION_ASSERTIONS = 318
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/realworld"
LINES_MAX = 512


class RealWorld(Program):
    """One running program, and a client of its API."""

    def __init__(self, folder, *sets):
        self.folder = pathlib.Path(folder)
        command = [built(PROGRAM), "--port", "0", *flags_of(QUICK), *flags_of(sets)]
        self._start(PROGRAM, command, shared=True, cwd=folder, env=environment())
        self.client = httpx.Client(base_url=self.url("/api"), timeout=60)

    def stop(self):
        """Drain it, and check the exit status."""
        self.client.close()
        self.send_signal()
        assert self.wait() == 0, self.stderr()

    def ask(self, method, path, content=None, token=None):
        """Send a request as the collection does: with a Content-Type, whether or not there is a body."""
        fields = {"Content-Type": "application/json", "X-Requested-With": "XMLHttpRequest"}
        if token:
            fields["Authorization"] = f"Token {token}"
        if content is None:
            return self.client.request(method, path, headers=fields)
        return self.client.request(method, path, headers=fields, json=content)

    def sign_up(self, name):
        """Register a user; return the token."""
        user = {"username": name, "email": f"{name}@example.org", "password": "password"}
        reply = self.ask("POST", "/users", {"user": user})
        assert reply.status_code == 201, reply.text
        return reply.json()["user"]["token"]

    def publish(self, token, title="A title", tags=(), **members):
        """Add an article; return it."""
        article = {"title": title, "description": "d", "body": "b", "tagList": list(tags), **members}
        reply = self.ask("POST", "/articles", {"article": article}, token)
        assert reply.status_code == 201, reply.text
        return reply.json()["article"]


@pytest.fixture(scope="module")
def conduit(tmp_path_factory):
    """The program, for the tests that need no empty database."""
    with RealWorld(tmp_path_factory.mktemp("realworld")) as program:
        yield program


def errors_of(reply, status):
    """The texts of RealWorld's form of errors; fails for another form or status."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    document = reply.json()
    assert set(document) == {"errors"} and set(document["errors"]) == {"body"}
    texts = document["errors"]["body"]
    assert texts and all(isinstance(text, str) and text for text in texts)
    return texts


class Collection:
    """Makes the collection's assertions, and counts them."""

    def __init__(self, program):
        self.program = program
        self.count = 0

    def check(self, holds, what):
        """One assertion of the collection."""
        self.count += 1
        assert holds, what

    def has(self, value, *names):
        """An assertion for each member."""
        for name in names:
            self.check(name in value, f"{name} in {value}")

    def user(self, reply):
        """The assertions for a user."""
        self.has(reply.json(), "user")
        self.has(reply.json()["user"], *USER)
        return reply.json()["user"]

    def times(self, value):
        """The assertions for createdAt and updatedAt."""
        for name in ("createdAt", "updatedAt"):
            self.check(ISO_8601.fullmatch(value[name]), value[name])

    def article_members(self, article, integer=True):
        """The assertions for an article, within a list or alone."""
        self.has(article, *ARTICLE)
        self.times(article)
        self.check(isinstance(article["tagList"], list), article)
        if integer:
            self.check(type(article["favoritesCount"]) is int, article)  # bool is an int to isinstance()
        return article

    def article(self, reply):
        """The assertions for a reply with one article."""
        self.has(reply.json(), "article")
        return self.article_members(reply.json()["article"])

    def ok(self, reply):
        """The assertion for the status."""
        self.check(reply.status_code == 200, reply.text)
        return reply.json()

    def articles(self, reply, integer=True):
        """The assertions for a list; return its first article."""
        listed = self.ok(reply)
        self.has(listed, "articles", "articlesCount")
        self.check(type(listed["articlesCount"]) is int, listed)
        if not listed["articles"]:
            self.check(listed["articlesCount"] == 0, listed)
            return None
        return self.article_members(listed["articles"][0], integer)

    def comment_members(self, comment):
        """The assertions for a comment."""
        self.has(comment, "id", "body", "createdAt", "updatedAt", "author")
        self.times(comment)

    def comments(self, reply):
        """The assertions for a list of comments."""
        listed = self.ok(reply)
        self.has(listed, "comments")
        if listed["comments"]:
            self.comment_members(listed["comments"][0])

    def profile(self, reply, following=None):
        """The assertions for a profile."""
        found = self.ok(reply)
        self.has(found, "profile")
        self.has(found["profile"], *PROFILE)
        if following is not None:
            self.check(found["profile"]["following"] is following, found)


def authentication(run, ask):
    """The folder Auth; return the token."""
    user = {"email": "john@jacob.com", "password": "johnnyjacob", "username": "johnjacob_1"}
    login = {"user": {name: user[name] for name in ("email", "password")}}
    run.user(ask("POST", "/users", {"user": user}))
    run.user(ask("POST", "/users/login", login))
    token = run.user(ask("POST", "/users/login", login))["token"]
    run.check(isinstance(token, str), token)
    run.user(ask("GET", "/user", token=token))
    run.user(ask("PUT", "/user", {"user": {"email": user["email"]}}, token))
    return token


def lists(run, ask):
    """The folder Articles."""
    for query in ("", "?author=johnjacob", "?favorited=johnjacob_1", "?tag=dragons"):
        run.articles(ask("GET", "/articles" + query))


def articles(run, ask, token):
    """The folder "Articles, Favorite, Comments", up to the favourites; return the slug."""
    article = {"title": "How to train your dragon", "description": "Ever wonder how?", "body": "Very carefully.",
               "tagList": ["training", "dragons"]}
    slug = run.article(ask("POST", "/articles", {"article": article}, token))["slug"]
    run.articles(ask("GET", "/articles/feed", token=token))
    run.articles(ask("GET", "/articles", token=token))
    run.articles(ask("GET", "/articles", token=token))
    run.articles(ask("GET", "/articles?author=johnjacob_1", token=token))
    run.articles(ask("GET", "/articles?author=johnjacob_1", token=token))
    run.article(ask("GET", f"/articles/{slug}", token=token))
    tagged = run.articles(ask("GET", "/articles?tag=dragons", token=token))
    run.check(tagged is not None, "an article was returned")
    run.check(tagged["tagList"][0] == "dragons", tagged)
    run.check(tagged["tagList"][1] == "training", tagged)
    run.article(ask("PUT", f"/articles/{slug}", {"article": {"body": "With two hands"}}, token))
    return slug


def favourites_and_comments(run, ask, token, slug):
    """The rest of that folder."""
    favored = run.article(ask("POST", f"/articles/{slug}/favorite", token=token))
    run.check(favored["favorited"] is True, favored)
    run.check(favored["favoritesCount"] > 0, favored)
    for _ in range(2):  # "Articles Favorited by Username", and the same with auth
        listed = run.articles(ask("GET", "/articles?favorited=johnjacob_1", token=token), integer=False)
        run.check(listed["favoritesCount"] == 1, listed)
    left = run.article(ask("DELETE", f"/articles/{slug}/favorite", token=token))
    run.check(left["favorited"] is False, left)
    reply = ask("POST", f"/articles/{slug}/comments", {"comment": {"body": "Thank you so much!"}}, token)
    run.has(reply.json(), "comment")
    run.comment_members(reply.json()["comment"])
    run.comments(ask("GET", f"/articles/{slug}/comments", token=token))
    run.comments(ask("GET", f"/articles/{slug}/comments"))
    # The collection asserts nothing of these.
    number = reply.json()["comment"]["id"]
    assert ask("DELETE", f"/articles/{slug}/comments/{number}", token=token).status_code == 204
    assert ask("DELETE", f"/articles/{slug}", token=token).status_code == 204


def profiles(run, ask, token):
    """The folder Profiles."""
    celebrity = {"email": "celeb_john@jacob.com", "password": "johnnyjacob", "username": "celeb_johnjacob_1"}
    run.user(ask("POST", "/users", {"user": celebrity}))
    run.profile(ask("GET", "/profiles/celeb_johnjacob_1", token=token))
    follow = "/profiles/celeb_johnjacob_1/follow"
    run.profile(ask("POST", follow, {"user": {"email": "john@jacob.com"}}, token), following=True)
    run.profile(ask("DELETE", follow, token=token), following=False)


def test_the_collection_passes_with_every_assertion(tmp_path):
    """All requests of the collection, in its order."""
    with RealWorld(tmp_path) as program:
        run = Collection(program)
        token = authentication(run, program.ask)
        lists(run, program.ask)
        slug = articles(run, program.ask, token)
        favourites_and_comments(run, program.ask, token, slug)
        profiles(run, program.ask, token)
        tags = run.ok(program.ask("GET", "/tags"))
        run.has(tags, "tags")
        run.check(isinstance(tags["tags"], list), tags)
        assert run.count == COLLECTION_ASSERTIONS


# ---- additions of the specification ---------------------------------------------------------------

CLOSED = [("GET", "/user"), ("PUT", "/user"), ("POST", "/profiles/x/follow"), ("DELETE", "/profiles/x/follow"),
          ("GET", "/articles/feed"), ("POST", "/articles"), ("PUT", "/articles/x"), ("DELETE", "/articles/x"),
          ("POST", "/articles/x/favorite"), ("DELETE", "/articles/x/favorite"), ("POST", "/articles/x/comments"),
          ("DELETE", "/articles/x/comments/1")]


@pytest.mark.parametrize("method, path", CLOSED)
def test_without_a_token_and_with_a_forged_one_a_closed_route_is_401(conduit, method, path):
    """The challenge names the scheme Token."""
    for token in (None, "forged", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."):
        reply = conduit.ask(method, path, token=token)
        errors_of(reply, 401)
        assert reply.headers["www-authenticate"].startswith("Token")


def test_an_open_route_takes_no_token_but_no_forged_one(conduit):
    """A client whose token has ended learns that; a login works with the old token."""
    for path in ("/articles", "/profiles/nobody"):
        assert conduit.ask("GET", path).status_code in (200, 404)
        errors_of(conduit.ask("GET", path, token="forged"), 401)
    conduit.sign_up("forgetful")
    login = {"user": {"email": "forgetful@example.org", "password": "password"}}
    assert conduit.ask("POST", "/users/login", login, token="forged").status_code == 200


def test_a_login_with_a_wrong_password_and_one_of_nobody_are_alike(conduit):
    """401, with the same text."""
    conduit.sign_up("careful")
    texts = [errors_of(conduit.ask("POST", "/users/login", {"user": {"email": email, "password": "password1"}}), 401)
             for email in ("careful@example.org", "nobody@example.org")]
    assert texts[0] == texts[1]


def test_what_is_wrong_with_a_user_is_422_and_says_where(conduit):
    """One text for each member that is wrong."""
    texts = errors_of(conduit.ask("POST", "/users", {"user": {"username": "", "email": "x", "password": "short"}}), 422)
    assert len(texts) == 3 and all("/user/" in text for text in texts), texts
    assert "short" not in str(texts)
    assert len(errors_of(conduit.ask("POST", "/users", {"user": {}}), 422)) == 3
    errors_of(conduit.ask("POST", "/users", {}), 422)
    errors_of(conduit.client.post("/users", content=b"{", headers={"Content-Type": "application/json"}), 400)


def test_a_name_and_an_address_belong_to_one_user(conduit):
    """422 for another registration and for a change, whatever the case of the address."""
    conduit.sign_up("first")
    other = conduit.sign_up("second")
    for user in ({"username": "first", "email": "new@example.org", "password": "password"},
                 {"username": "new", "email": "FIRST@example.org", "password": "password"}):
        texts = errors_of(conduit.ask("POST", "/users", {"user": user}), 422)
        assert texts[0].endswith("has already been taken.")
    errors_of(conduit.ask("PUT", "/user", {"user": {"username": "first"}}, other), 422)
    assert conduit.ask("GET", "/user", token=other).json()["user"]["username"] == "second"


def test_a_user_is_changed_member_by_member(conduit):
    """A member that is absent stays, null empties it, and a new password replaces the old one."""
    token = conduit.sign_up("changing")
    changed = conduit.ask("PUT", "/user", {"user": {"bio": "I work", "image": "https://a.example/i.png"}}, token)
    assert changed.json()["user"]["bio"] == "I work"
    changed = conduit.ask("PUT", "/user", {"user": {"image": None, "password": "password2"}}, token).json()["user"]
    assert changed["bio"] == "I work" and changed["image"] is None and changed["email"] == "changing@example.org"
    errors_of(conduit.ask("PUT", "/user", {"user": {"email": None}}, token), 422)
    for password, status in (("password", 401), ("password2", 200)):
        login = {"user": {"email": "changing@example.org", "password": password}}
        assert conduit.ask("POST", "/users/login", login).status_code == status


def test_an_article_and_a_comment_are_changed_by_their_authors_alone(conduit):
    """403 for another user, 404 for an unknown article or comment."""
    author, other = conduit.sign_up("author"), conduit.sign_up("other")
    slug = conduit.publish(author, "Mine alone")["slug"]
    errors_of(conduit.ask("PUT", f"/articles/{slug}", {"article": {"body": "x"}}, other), 403)
    errors_of(conduit.ask("DELETE", f"/articles/{slug}", token=other), 403)
    comment = conduit.ask("POST", f"/articles/{slug}/comments", {"comment": {"body": "x"}}, author).json()["comment"]
    path = f"/articles/{slug}/comments/{comment['id']}"
    errors_of(conduit.ask("DELETE", path, token=other), 403)
    elsewhere = conduit.publish(author, "Elsewhere")["slug"]
    errors_of(conduit.ask("DELETE", f"/articles/{elsewhere}/comments/{comment['id']}", token=author), 404)
    assert conduit.ask("DELETE", path, token=author).status_code == 204
    errors_of(conduit.ask("DELETE", path, token=author), 404)
    for method, path in (("GET", ""), ("GET", "/comments"), ("POST", "/favorite"), ("DELETE", "")):
        errors_of(conduit.ask(method, f"/articles/not-there{path}", token=author), 404)
    errors_of(conduit.ask("POST", "/profiles/nobody/follow", token=author), 404)
    errors_of(conduit.ask("GET", "/nowhere"), 404)


def test_an_article_keeps_its_slug_until_its_title_changes(conduit):
    """The body, the description and the title are changed one by one."""
    token = conduit.sign_up("editor")
    first = conduit.publish(token, "First title", tags=["b", "a", "b"])
    assert first["slug"] == "first-title" and first["tagList"] == ["a", "b"]
    again = conduit.ask("PUT", "/articles/first-title", {"article": {"body": "new"}}, token).json()["article"]
    assert again["slug"] == "first-title" and again["body"] == "new" and again["description"] == "d"
    assert again["createdAt"] == first["createdAt"] and again["updatedAt"] > first["updatedAt"]
    moved = conduit.ask("PUT", "/articles/first-title", {"article": {"title": "Second title"}}, token).json()["article"]
    assert moved["slug"] == "second-title" and moved["tagList"] == ["a", "b"]
    errors_of(conduit.ask("GET", "/articles/first-title"), 404)
    errors_of(conduit.ask("PUT", "/articles/second-title", {"article": {"title": None}}, token), 422)


def test_what_is_wrong_with_an_article_is_422(conduit):
    """Empty and missing members, too many tags and tags that are too long."""
    token = conduit.sign_up("sloppy")
    for article in ({}, {"title": "", "description": "d", "body": "b"}, {"title": "t", "description": "d", "body": ""},
                    {"title": "t" * 201, "description": "d", "body": "b"},
                    {"title": "t", "description": "d", "body": "b", "tagList": ["x"] * 21},
                    {"title": "t", "description": "d", "body": "b", "tagList": ["x" * 41]},
                    {"title": 7, "description": "d", "body": "b"}):
        errors_of(conduit.ask("POST", "/articles", {"article": article}, token), 422)
    slug = conduit.publish(token, "For comments")["slug"]
    errors_of(conduit.ask("POST", f"/articles/{slug}/comments", {"comment": {"body": ""}}, token), 422)


# ---- hostile input -------------------------------------------------------------------------------

@pytest.mark.parametrize("title", ["Twice", "twice!", "Ünïcödé — 題名", "!!!", "Feed", "../../etc/passwd", "a%2Fb?c#d",
                                   "x" * 200, "龍" * 200, "'; DROP TABLE articles; --", "<script>alert(1)</script>"])
def test_articles_of_any_title_have_different_slugs_and_are_found_by_them(conduit, title):
    """Also titles that give the same slug, none, or a path of the API."""
    token = conduit.sign_up(f"title_{abs(hash(title))}")
    slugs = set()
    for _ in range(3):
        article = conduit.publish(token, title)
        assert article["title"] == title
        assert article["slug"] not in slugs | {"feed", ""}
        slugs.add(article["slug"])
        found = conduit.ask("GET", f"/articles/{article['slug']}")
        assert found.status_code == 200 and found.json()["article"]["title"] == title


def test_text_that_looks_like_sql_is_a_value(conduit):
    """In tags, in filters and in names."""
    token = conduit.sign_up("bobby")
    tag = "x' OR '1'='1"
    slug = conduit.publish(token, "Little tables", tags=[tag])["slug"]
    listed = conduit.client.get("/articles", params={"tag": tag}).json()
    assert [each["slug"] for each in listed["articles"]] == [slug] and listed["articlesCount"] == 1
    assert tag in conduit.client.get("/tags").json()["tags"]
    for name in ("tag", "author", "favorited"):
        listed = conduit.client.get("/articles", params={name: "' OR 1=1 --"}).json()
        assert listed == {"articles": [], "articlesCount": 0}


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=99999999999999999999", "limit=-1", "limit=x",
                                   "offset=-1", "offset=2147483648", "offset=9223372036854775808"])
def test_a_page_that_is_none_is_400(conduit, query):
    """In RealWorld's form."""
    errors_of(conduit.ask("GET", f"/articles?{query}"), 400)


def test_a_page_behind_the_last_one_has_the_count_of_all(conduit):
    """And pages have each article once, the newest first."""
    token = conduit.sign_up("prolific")
    slugs = [conduit.publish(token, f"Number {number}")["slug"] for number in range(5)]
    pages = [conduit.ask("GET", f"/articles?author=prolific&limit=2&offset={offset}").json() for offset in (0, 2, 4, 6)]
    assert [page["articlesCount"] for page in pages] == [5] * 4
    assert [each["slug"] for page in pages for each in page["articles"]] == slugs[::-1]


def test_an_article_is_a_favourite_once_however_often_and_at_once(conduit):
    """Eight requests at a time count one; so do eight that take it back."""
    author, fan = conduit.sign_up("famous"), conduit.sign_up("fan")
    path = f"/articles/{conduit.publish(author, 'Popular')['slug']}/favorite"
    for method, count in (("POST", 1), ("DELETE", 0)):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _, method=method: conduit.ask(method, path, token=fan), range(8)))
        assert [reply.status_code for reply in replies] == [200] * 8
        assert {reply.json()["article"]["favoritesCount"] for reply in replies} == {count}


def test_one_of_two_registrations_at_once_of_a_name_succeeds(conduit):
    """The other one is 422, never 500."""
    user = {"user": {"username": "racer", "email": "racer@example.org", "password": "password"}}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: conduit.ask("POST", "/users", user), range(4)))
    assert sorted(reply.status_code for reply in replies) == [201, 422, 422, 422]


def test_the_program_is_as_long_as_its_readme_says_and_no_longer_than_it_was():
    """The limit may fall, but not rise."""
    paths = [*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp"), *FOLDER.glob("migrations/*")]
    lines = sum(len(path.read_text().splitlines()) for path in paths if path.name != "realworld_test.cpp")
    assert f"The program has {lines} lines" in (FOLDER / "README.md").read_text()
    assert lines <= LINES_MAX


def test_the_token_of_a_user_who_is_gone_is_401_and_the_articles_are_gone(tmp_path):
    """Nor does a new user get the id that the token names."""
    with RealWorld(tmp_path) as program:
        token = program.sign_up("ghost")
        program.publish(token, "Unfinished", tags=["t"])
        paths = [path for path in tmp_path.rglob("*.db")]
        database = sqlite3.connect(paths[0], timeout=20)
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("DELETE FROM users")
        database.commit()
        database.close()
        program.sign_up("ghost")
        errors_of(program.ask("GET", "/user", token=token), 401)
        errors_of(program.ask("POST", "/articles", {"article": {}}, token), 401)
        assert program.ask("GET", "/articles", token=token).json() == {"articles": [], "articlesCount": 0}
        assert program.ask("GET", "/tags").json() == {"tags": []}


def test_a_token_outlives_a_restart_with_a_key_and_ends_with_the_process_without(tmp_path):
    """The setting token_key."""
    key = "token_key=4f8a61c0d97be2350a6f18c4e7d29b53"
    with RealWorld(tmp_path, key) as program:
        token = program.sign_up("steady")
    with RealWorld(tmp_path, key) as program:
        assert program.ask("GET", "/user", token=token).status_code == 200
    with RealWorld(tmp_path) as program:
        errors_of(program.ask("GET", "/user", token=token), 401)

# SPDX-License-Identifier: Apache-2.0
