"""Profiles: GET /operations/profile of a program with planted uses of CPU time, and `katana profile`."""
import concurrent.futures
import contextlib
import datetime
import gzip
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import httpx
import pytest

from browser import Browser
from fullstack_process import environment, flags_of
from program_process import ROOT, Program, built
from raw_client import eventually
from server_process import free_port

NAME = "profile_server"
USER = "daemon"
PATH = "/operations/profile"


class Profiled(Program):
    """profile_server on two reactors."""

    def __init__(self, *sets, folder=None, **options):
        sets = ("http.port=0", "http.reactors=2", "http.drain_notice=0s", *sets)
        self._start(NAME, [built(NAME), *flags_of(sets)], cwd=folder, env=environment(), **options)

    def stop(self):
        """Drain it."""
        self.send_signal(signal.SIGTERM)
        assert self.wait() == 0, self.stderr()

    def profile(self, **parameters):
        """Make a profile."""
        return httpx.get(self.url(PATH), params=parameters, timeout=60)

    @contextlib.contextmanager
    def load(self, path):
        """Request the path again and again meanwhile."""
        ended = threading.Event()

        def run():
            while not ended.is_set():
                with contextlib.suppress(httpx.HTTPError):
                    httpx.get(self.url(path), timeout=60)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def profiles_under(self, path, enough, **parameters):
        """Profiles under this load, until one is enough: this machine may be busy with other work."""
        with self.load(path):
            for _ in range(20):
                reply = self.profile(**parameters)
                assert reply.status_code == 200, reply.text
                if enough(reply):
                    return reply
        raise AssertionError(reply.text[-2000:])


@pytest.fixture(name="program")
def fixture_program():
    """A running program, which drains and ends well."""
    with Profiled() as running:
        yield running


# ---- a reader of profile.proto ---------------------------------------------------------------------------------------

def fields(message):
    """Yield (number, value) of a message: an int, or the bytes of a field with a length."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, tag
            size = varint()
            assert at + size <= len(message)
            yield tag >> 3, message[at:at + size]
            at += size


def packed(data):
    """The numbers of a packed field."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


def all_of(message, number):
    """All values of a field."""
    return [value for each, value in fields(message) if each == number]


def decoded(data):
    """A profile, field by field: its texts, types, samples, mappings, locations and facts."""
    message = gzip.decompress(data)
    texts = [text.decode() for text in all_of(message, 6)]
    assert texts[0] == "" and len(set(texts)) == len(texts)

    def named(part, *names):
        found = dict(fields(part))
        return {name: found.get(index, 0) for index, name in enumerate(names, 1) if name}

    def value_type(part):
        found = dict(fields(part))
        return texts[found[1]] + "/" + texts[found[2]]
    functions = {each["id"]: texts[each["name"]] for each in
                 (named(part, "id", "name") for part in all_of(message, 5))}
    locations = {}
    for part in all_of(message, 4):
        location = named(part, "id", "mapping", "address")
        location["functions"] = [functions[dict(fields(line))[1]] for line in all_of(part, 4)]
        locations[location["id"]] = location
    samples = []
    for part in all_of(message, 2):
        labels = {}
        for label in all_of(part, 3):
            found = dict(fields(label))
            labels[texts[found[1]]] = texts[found[2]]
        samples.append({"locations": [locations[number] for data in all_of(part, 1) for number in packed(data)],
                        "values": packed(all_of(part, 2)[0]), "labels": labels})
    mappings = []
    for part in all_of(message, 3):
        mapping = named(part, "id", "start", "limit", "offset", "file", "build_id")
        mapping["file"], mapping["build_id"] = texts[mapping["file"]], texts[mapping["build_id"]]
        mappings.append(mapping)
    facts = dict(fields(message))
    return {"types": [value_type(part) for part in all_of(message, 1)], "samples": samples, "mappings": mappings,
            "time": facts[9], "duration": facts[10], "period_type": value_type(facts[11]), "period": facts[12],
            "comments": [texts[number] for number in packed(facts[13])], "default": texts[facts[14]]}


def cpu_by_route(profile):
    """Nanoseconds by route."""
    by_route = {}
    for sample in profile["samples"]:
        route = sample["labels"].get("route", "")
        by_route[route] = by_route.get(route, 0) + sample["values"][1]
    return by_route


# ---- the endpoint ----------------------------------------------------------------------------------------------------

def test_pprof_has_the_route_and_request_that_use_the_time(program):
    """Field by field: units, mappings with build ids, and labels."""
    before = time.time_ns()
    reply = program.profiles_under(
        "/burn", lambda reply: cpu_by_route(decoded(reply.content)).get("GET /burn", 0) > 200_000_000,
        seconds=2, hertz=100)
    assert reply.headers["content-type"] == "application/octet-stream"
    assert re.fullmatch(r'attachment; filename="profile_server-cpu-\d{8}T\d{6}Z\.pb\.gz"',
                        reply.headers["content-disposition"])
    profile = decoded(reply.content)
    assert profile["types"] == ["samples/count", "cpu/nanoseconds"] and profile["default"] == "cpu"
    assert profile["period_type"] == "cpu/nanoseconds" and profile["period"] == 10_000_000
    assert 1_900_000_000 < profile["duration"] and before < profile["time"] < time.time_ns()
    assert "program profile_server" in profile["comments"]
    main = profile["mappings"][0]
    assert main["file"] == os.path.realpath(built(NAME)) and re.fullmatch(r"[0-9a-f]{40}", main["build_id"])
    by_route = cpu_by_route(profile)
    assert by_route["GET /burn"] > sum(by_route.values()) / 2, by_route
    burned = [sample for sample in profile["samples"] if sample["labels"].get("route") == "GET /burn"]
    assert all(sample["labels"].get("request_id") for sample in burned), burned
    assert {sample["labels"]["thread"] for sample in burned} <= {"profile_server"}
    for sample in profile["samples"]:
        assert sample["values"][1] == sample["values"][0] * profile["period"]
        for location in sample["locations"]:
            mapping = next((each for each in profile["mappings"] if each["id"] == location["mapping"]), None)
            assert mapping is None or mapping["start"] <= location["address"] < mapping["limit"]


def amounts_of(program, words):
    """Allocations by route and function of the program's own file, as the tool names them."""
    named = folded_profile(program, words)
    return {name: sum(int(line.rsplit(" ", 1)[1]) for line in named.splitlines() if name in line)
            for name in ("planted_leak", "planted_churn")}


def folded_profile(program, words):
    """The folded stacks of a profile that the tool makes."""
    run = subprocess.run([built("katana"), "profile", program.url(""), "-o", "-", "--format", "folded", *words],
                         capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("kind", ["allocations", "growth"])
def test_memory_that_a_cache_keeps_is_told_from_memory_that_is_freed(program, kind):
    """Both are allocated, and only the leak grows. Both have their route."""
    with program.load("/grow?kib=256"), program.load("/churn?kib=256"):
        for _ in range(20):
            found = amounts_of(program, ["--kind", kind, "--seconds", "1", "--bytes", "4096"])
            if found["planted_leak"] > 200 and (kind == "growth" or found["planted_churn"] > 200):
                break
        else:
            raise AssertionError(found)
    if kind == "growth":  # what is alive at the end of the profile, for one request at most
        assert found["planted_churn"] < found["planted_leak"] / 2 + 300


def test_a_profile_of_memory_has_the_types_that_pprof_knows(program):
    """Objects and bytes, with the interval as their period; a large allocation is one of them."""
    with program.load("/grow?kib=64"):
        reply = program.profile(seconds=1, kind="growth", bytes=2048)
    assert reply.status_code == 200, reply.text
    assert re.search(r"-growth-\d{8}T\d{6}Z\.pb\.gz", reply.headers["Content-Disposition"])
    profile = decoded(reply.content)
    assert profile["types"] == ["inuse_objects/count", "inuse_space/bytes"]
    assert (profile["period_type"], profile["period"], profile["default"]) == ("space/bytes", 2048, "inuse_space")
    assert cpu_by_route(profile).get("GET /grow", 0) > 0


def test_folded_lines_begin_with_the_route(program):
    """Their numbers are samples. Work on a pool has the thread's own stack."""
    reply = program.profiles_under("/burn", lambda reply: "GET /burn;" in reply.text, seconds=1, format="folded")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    lines = reply.text.splitlines()
    assert all(re.fullmatch(r"(GET /burn|GET /operations/profile|\(no route\))(;[^;]+)* [1-9]\d*", line)
               for line in lines), lines
    assert any(re.search(r";profile_server\+0x[0-9a-f]+;", line) for line in lines), lines


def test_the_flame_graph_is_a_page_that_loads_nothing(program):
    """Its policy is in the header, too."""
    reply = program.profiles_under("/burn", lambda reply: "GET /burn" in reply.text, seconds=1, format="html")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert "<svg id=\"chart\"" in reply.text and "http://" not in reply.text


def press(browser, key, text=None):
    """Press a key on what has the focus."""
    for kind in ("keyDown", "keyUp"):
        parameters = {"text": text} if text and kind == "keyDown" else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, **parameters)


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")], ids=["phone", "wide"])
def test_the_flame_graph_is_used_by_keys(program, tmp_path, width, scheme):
    """Arrows move, Enter shows one function, Escape all, and a search marks. The policy is broken by nothing."""
    page = tmp_path / "profile.html"
    page.write_text(program.profiles_under("/burn", lambda reply: "GET /burn" in reply.text, seconds=1,
                                           format="html").text, encoding="utf-8")
    with Browser(tmp_path / "browser") as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(page.as_uri())
        browser.eventually(lambda: browser.value("document.querySelector('.scripted')?.hidden") is False)
        assert browser.value("document.documentElement.scrollWidth") <= width
        browser.value("document.querySelector('#chart [tabindex=\"0\"]').focus()")
        press(browser, "ArrowDown")
        browser.see("GET /burn, ", "status")
        for _ in range(5):
            press(browser, "ArrowDown")
        press(browser, "ArrowUp")
        told = browser.text("status")
        press(browser, "Enter", "\r")
        assert browser.text("status") == told
        assert browser.value("document.activeElement.getAttribute('width')") == "100%"
        assert browser.value("document.querySelector('.f').getAttribute('width')") == "100%"
        press(browser, "Escape")
        browser.see("all, 100.00 %", "status")
        browser.value("const box = document.getElementById('search'); box.value = 'get /BURN';"
                      "box.dispatchEvent(new Event('input'))")
        browser.see("% of the time has 'get /BURN'", "status")
        assert browser.value("document.querySelectorAll('.m').length") == 1
        assert browser.value("document.querySelectorAll('#chart [tabindex=\"0\"]').length") == 1
        nodes = [node for node in browser.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        assert all(node.get("name", {}).get("value") for node in nodes
                   if node["role"]["value"] in ("button", "searchbox", "textbox", "group", "image"))
        assert browser.value("violations") == []


@pytest.mark.parametrize("parameters, detail", [
    ({"seconds": "0"}, "query parameter 'seconds': expected 1 to 60 (profile.seconds_max), got 0"),
    ({"seconds": "61"}, "query parameter 'seconds': expected 1 to 60 (profile.seconds_max), got 61"),
    ({"seconds": "-1"}, "query parameter 'seconds': expected 1 to 60 (profile.seconds_max), got -1"),
    ({"hertz": "0"}, "query parameter 'hertz': expected 1 to 250 (profile.hertz_max), got 0"),
    ({"hertz": "251"}, "query parameter 'hertz': expected 1 to 250 (profile.hertz_max), got 251"),
    ({"seconds": "ten"}, "'seconds'"),
    ({"kind": "heap"}, "'kind'"),
    ({"format": "svg"}, "'format'"),
    ({"second": "60"}, "'second'"),
    ({"kind": "growth", "hertz": "9"}, "query parameter 'hertz': a profile of memory has 'bytes' instead"),
    ({"bytes": "4096"}, "query parameter 'bytes': only profiles of memory have it"),
    ({"kind": "growth", "bytes": "1023"}, "'bytes'"),
])
def test_wrong_parameters_are_refused_with_their_bounds(program, parameters, detail):
    """A problem document for each, and no profile."""
    reply = program.profile(**parameters)
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["type"] == "urn:katana:problem:invalid-parameter", problem
    assert detail in problem["detail"], problem
    assert program.profile(seconds=1).status_code == 200


def test_only_a_get_of_the_same_site_makes_a_profile(program):
    """HEAD would cost as much. A browser says that a page of another site asks."""
    refused = httpx.head(program.url(PATH), timeout=60)
    assert refused.status_code == 405 and refused.headers["allow"] == "GET"
    refused = httpx.get(program.url(PATH), headers={"Sec-Fetch-Site": "cross-site"}, timeout=60)
    assert refused.status_code == 403 and refused.json()["type"] == "urn:katana:problem:csrf"
    allowed = httpx.get(program.url(PATH), params={"seconds": 1}, headers={"Sec-Fetch-Site": "none"}, timeout=60)
    assert allowed.status_code == 200


def test_a_second_profile_is_refused_with_the_end_of_the_first(program):
    """Afterwards there may be another."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        begun = datetime.datetime.now(datetime.timezone.utc)
        first = pool.submit(first_profile, program, seconds=5)
        second = until_refused(program)
        assert first.result().status_code == 200
    problem = second.json()
    assert problem["type"] == "urn:katana:problem:profile-in-progress"
    ends = datetime.datetime.fromisoformat(problem["ends_at"].replace("Z", "+00:00"))
    assert begun + datetime.timedelta(seconds=5) <= ends
    assert ends <= datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    assert 1 <= int(second.headers["retry-after"]) <= 5
    assert program.profile(seconds=1).status_code == 200


def first_profile(program, **parameters):
    """The reply of a profile, which is asked for again while another one is being made."""
    while True:
        reply = program.profile(**parameters)
        if reply.status_code != 409:
            return reply


def until_refused(program):
    """The reply of a second profile, once the first has begun."""
    for _ in range(20):
        reply = program.profile(seconds=1)
        if reply.status_code == 409:
            return reply
    raise AssertionError("no profile is being made")


def test_a_profile_of_waiting_has_what_the_handler_awaits(program):
    """The route, the handler and the awaitable, in each format; a second one is refused, one of CPU time is not."""
    with program.load("/pool?ms=500"):
        reply = program.profiles_under("/pool?ms=500", lambda reply: "GET /pool;" in reply.text, kind="waiting",
                                       seconds=1, format="folded")
        assert re.search(r"^GET /pool;.*;katana::thread::Run<.* \d+$", reply.text, re.MULTILINE), reply.text
        with concurrent.futures.ThreadPoolExecutor() as threads:
            made = [threads.submit(program.profile, kind=kind, seconds=3) for kind in ("waiting", "waiting", "cpu")]
            codes = [each.result().status_code for each in made]
    assert sorted(codes[:2]) == [200, 409] and codes[2] == 200
    page = program.profile(kind="waiting", seconds=1, format="html")
    assert "Waiting" in page.text


def test_a_client_that_leaves_ends_its_profile(program):
    """The next client need not wait for the end."""
    while True:
        with socket.create_connection(("127.0.0.1", program.port)) as client:
            client.sendall(f"GET {PATH}?seconds=60 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            if program.profile(seconds=1).status_code == 409:
                break
    assert eventually(lambda: program.profile(seconds=1).status_code == 200)


def test_a_program_that_ends_sends_what_it_has():
    """SIGTERM ends a profile. The client gets the part so far."""
    with Profiled("http.drain_timeout=20s") as program, concurrent.futures.ThreadPoolExecutor() as pool:
        reply = pool.submit(first_profile, program, seconds=60)
        until_refused(program)
        program.send_signal(signal.SIGTERM)
        assert reply.result().status_code == 200
        assert decoded(reply.result().content)["duration"] < 60_000_000_000
        assert program.wait() == 0
    assert not program.alive()


def test_no_profile_begins_after_sigterm():
    """The program still serves, for as long as drain_notice says."""
    with Profiled("http.drain_notice=60s", "http.drain_timeout=1s") as program, httpx.Client() as client:
        assert client.get(program.url("/quick"), timeout=60).text == "quick"
        program.send_signal(signal.SIGTERM)
        late = []

        def is_refused():
            late.append(client.get(program.url(PATH), params={"seconds": 1}, timeout=60))
            return late[-1].status_code == 503
        assert eventually(is_refused), late[-1].text
        assert late[-1].json()["type"] == "urn:katana:problem:stopping", late[-1].text
        program.send_signal(signal.SIGTERM)                       # the second one ends the notice
        assert program.wait() == 0


def test_without_rights_there_is_no_profile():
    """As the other pages: 401 without the token, 404 on the public listener, and nothing if it is off."""
    with Profiled("operations.token=secret-of-the-operator") as program:
        assert program.profile(seconds=1).status_code == 401
        reply = httpx.get(program.url(PATH), params={"seconds": 1}, timeout=60,
                          headers={"Authorization": "Bearer secret-of-the-operator"})
        assert reply.status_code == 200
    with with_operations() as program:
        assert program.profile(seconds=1).status_code == 404
    with Profiled("profile.enabled=false") as program:
        assert program.profile(seconds=1).status_code == 404


def with_operations(*sets):
    """A program with a listener for operations."""
    return Profiled(f"operations.port={free_port()}", *sets)


def test_bounds_are_those_of_the_settings():
    """profile.seconds_max and profile.hertz_max."""
    with Profiled("profile.seconds_max=2", "profile.hertz_max=20") as program:
        assert "expected 1 to 2" in program.profile(seconds=3).json()["detail"]
        assert "expected 1 to 20" in program.profile(seconds=1, hertz=21).json()["detail"]
        profile = decoded(program.profile().content)              # the defaults are 10 and 99, but for the bounds
        assert profile["period"] == 50_000_000 and profile["duration"] < 10_000_000_000


def test_a_program_without_crash_reports_has_profiles():
    """Their handlers of faults are not there."""
    with Profiled("crash.report=false") as program:
        program.profiles_under("/burn", lambda reply: "GET /burn;" in reply.text, seconds=1, format="folded")


def test_each_engine_serves_on_under_the_signals(engine):
    """No request fails because of them, and they are served while threads are interrupted."""
    by_route = {}
    with Profiled(f"http.engine={engine}") as program, program.load("/quick"), \
            concurrent.futures.ThreadPoolExecutor() as pool:
        for _ in range(10):  # a busy machine may leave the program no CPU time to sample
            profile = pool.submit(program.profile, seconds=3, hertz=250)
            count, enough = 0, 20
            with httpx.Client() as client:
                while not profile.done():
                    assert client.get(program.url("/quick"), timeout=30).text == "quick"
                    count += 1
            assert profile.result().status_code == 200
            by_route = cpu_by_route(decoded(profile.result().content))
            if count >= enough and by_route.get("GET /quick", 0) + by_route.get("", 0) > 0:
                return
    raise AssertionError(by_route)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("refused_call", ["error", "end"])
def test_a_program_in_the_sandbox_makes_profiles(refused_call):
    """The calls of timers are allowed while profile.enabled is, and refused else."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="katana_profile_", dir="/srv"))
    shutil.copy(built(NAME), folder / NAME)
    shutil.chown(folder, USER, USER)
    sets = ("process.sandbox=on", f"process.user={USER}", f"http.forms.folder={folder}/spill",
            f"process.refused_call={refused_call}")
    try:
        with Profiled(*sets, folder=folder) as program:
            reply = program.profiles_under(
                "/burn", lambda reply: cpu_by_route(decoded(reply.content)).get("GET /burn", 0) > 50_000_000, seconds=1)
            assert len(decoded(reply.content)["mappings"]) >= 2
            assert "was refused" not in program.stderr()
    finally:
        shutil.rmtree(folder)


# ---- katana profile --------------------------------------------------------------------------------------------------

def katana_profile(*words, **variables):
    """Run `katana profile`."""
    return subprocess.run([built("katana"), "profile", *map(str, words)], capture_output=True, text=True, timeout=180,
                          check=False, env={**os.environ, **variables})


def test_the_tool_names_functions_by_url_by_process_and_from_a_file(program, tmp_path):
    """A file of pprof has names, and becomes a page and folded stacks."""
    output = tmp_path / "made.pb.gz"
    with program.load("/burn"), program.load("/pool"):
        for target in (program.url(), program.pid, program.url(PATH)):
            for _ in range(20):
                done = katana_profile(target, "--seconds", 2, "--hertz", 100, "-o", output)
                assert done.returncode == 0, done.stderr
                profile = decoded(output.read_bytes())
                if {"GET /burn"} <= {route for route, ns in cpu_by_route(profile).items() if ns > 50_000_000}:
                    break
            assert re.fullmatch(rf"{output}: \d+\.\d\d s of CPU time in \d+ samples(, \d+ lost)?\n", done.stdout)
            burned = [sample for sample in profile["samples"] if sample["labels"].get("route") == "GET /burn"]
            named = [name for sample in burned for location in sample["locations"] for name in location["functions"]]
            assert any(name.startswith("(anonymous namespace)::planted_loop(") for name in named), set(named)
    folded = katana_profile(output, "-o", "-", "--format", "folded")
    assert folded.returncode == 0, folded.stderr
    assert re.search(r"^GET /burn;.*;\(anonymous namespace\)::planted_burn\(long\);.*planted_loop\(", folded.stdout,
                     re.MULTILINE), folded.stdout
    page = tmp_path / "made.html"
    assert katana_profile(output, "-o", page).returncode == 0
    assert "planted_loop(" in page.read_text(encoding="utf-8")


def test_the_tool_sends_the_token_of_a_file(tmp_path):
    """Without it the program refuses, and the tool says so."""
    token = tmp_path / "token"
    token.write_text("secret-of-the-operator\n", encoding="ascii")
    with Profiled("operations.token=secret-of-the-operator") as program:
        done = katana_profile(program.url(), "--seconds", 1, "-o", tmp_path / "x")
        assert done.returncode == 1 and ": 401: " in done.stderr, done.stderr
        done = katana_profile(program.url(), "--seconds", 1, "-o", tmp_path / "x", "--token-file", token)
        assert done.returncode == 0, done.stderr


def test_the_tool_finds_the_operations_listener_of_a_process(tmp_path):
    """The public listener answers 404; another has the page."""
    with with_operations() as program:
        done = katana_profile(program.pid, "--seconds", 1, "-o", tmp_path / "x")
        assert done.returncode == 0, done.stderr
        done = katana_profile(program.url(), "--seconds", 1, "-o", tmp_path / "x")
        assert done.returncode == 1 and "operations.port" in done.stderr, done.stderr


def test_the_tool_goes_on_after_a_listener_that_refuses(tmp_path):
    """A port that answers 403 may be another server of the same process: this one, with a profile in the next port."""
    profile = gzip.compress(b"not a profile")
    asked = []

    class Page(http.server.BaseHTTPRequestHandler):
        """Refuses on the first port that is asked."""
        def do_GET(self):  # pylint: disable=invalid-name
            """Answer 403 once, then a file."""
            asked.append(self.server.server_port)
            self.send_response(403 if len(asked) == 1 else 200)
            self.end_headers()
            self.wfile.write(b"refused" if len(asked) == 1 else profile)

        def log_message(self, *_):
            """Say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            server = stack.enter_context(http.server.HTTPServer(("127.0.0.1", 0), Page))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        done = katana_profile(os.getpid(), "--seconds", 1, "-o", tmp_path / "x")
    assert len(set(asked)) == 2 and "no profile of pprof" in done.stderr, (asked, done.stderr)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a network namespace")
def test_the_tool_sends_nothing_to_another_network_namespace(tmp_path):
    """The address of its socket would be that of another program here."""
    code = ("import socket,sys; s=socket.create_server(('127.0.0.1',0)); print('listens',flush=True); "
            "sys.stdin.read()")
    with subprocess.Popen(["unshare", "--net", "python3", "-c",
                           "import subprocess; subprocess.run(['ip','link','set','lo','up'],check=False);" + code],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "listens\n"
        done = katana_profile(other.pid, "--seconds", 1, "-o", tmp_path / "x")
        other.stdin.close()
    assert done.returncode == 1 and "another network namespace" in done.stderr, done.stderr


def test_the_name_of_a_program_leads_to_no_other_folder(program, tmp_path):
    """The file or the server says it. A profile that was given is not replaced either."""
    made = gzip.decompress(program.profile(seconds=1).content)
    name = b"program profile_server"
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    given = folder / "profile-cpu.pb.gz"
    for evil in (b"../../../aaaaa", b"/tmp/a/aaaaaaa", b".aaaaaaaaaaaaa"):
        assert len(evil) == len(b"profile_server")
        given.write_bytes(gzip.compress(made.replace(name, b"program " + evil)))
        before = given.read_bytes()
        done = subprocess.run([built("katana"), "profile", given.name], cwd=folder, capture_output=True, text=True,
                              timeout=180, check=False)
        assert done.returncode == 1 and "name a file with -o" in done.stderr, done.stderr
        assert given.read_bytes() == before and list(tmp_path.rglob("*.gz")) == [given]
        other = folder / "other.pb.gz"
        given.rename(other)
        done = subprocess.run([built("katana"), "profile", other.name], cwd=folder, capture_output=True, text=True,
                              timeout=180, check=False)
        assert done.returncode == 0 and done.stdout.startswith("profile-cpu.pb.gz: "), done.stderr
        assert sorted(tmp_path.rglob("*.gz")) == [other, given]
        other.unlink()


@pytest.mark.parametrize("words, status, message", [
    (("http://127.0.0.1:1",), 1, "127.0.0.1:1"),
    (("999999999",), 1, "there is no process 999999999"),
    (("nonsense",), 1, "'nonsense' is no URL (http://…), no process and no file"),
    ((__file__,), 1, "the bytes are not gzip, or are cut"),
    (("http://127.0.0.1:1", "--seconds", "0"), 2, "--seconds"),
    (("http://127.0.0.1:1", "--format", "svg"), 2, "--format"),
    (("http://127.0.0.1:1", "--debug-dir", "/nowhere"), 2, "'/nowhere' is no folder"),
    (("http://127.0.0.1:1", "--token-file", "/nowhere"), 1, "--token-file"),
    ((), 2, "TARGET"),
])
def test_wrong_words_of_the_tool_are_refused(words, status, message):
    """With the reason."""
    done = katana_profile(*words)
    assert done.returncode == status and message in done.stderr, done.stderr


def test_a_profile_of_another_build_gets_no_names(program, tmp_path):
    """The tool compares build IDs, says which module has none, and keeps the offsets."""
    output = tmp_path / "made.pb.gz"
    output.write_bytes(program.profiles_under(
        "/burn", lambda reply: "GET /burn" in cpu_by_route(decoded(reply.content)), seconds=1).content)
    message = gzip.decompress(output.read_bytes())
    build_id = decoded(output.read_bytes())["mappings"][0]["build_id"]
    output.write_bytes(gzip.compress(message.replace(build_id.encode(), b"0" * 40)))
    done = katana_profile(output, "-o", "-", "--format", "folded")
    assert done.returncode == 0 and "has the build ID" in done.stderr and "--debug-dir" in done.stderr
    assert ";profile_server+0x" in done.stdout and "planted" not in done.stdout


def steps_of_guide():
    """The commands of the guide with their output: (command, lines)."""
    guide = ROOT.joinpath("docs", "guides", "profiling.md").read_text(encoding="utf-8")
    part = guide[guide.index("## Find hot code, step by step"):guide.index("## Make a profile")]
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
        if not language:
            command, *lines = block.splitlines()
            yield command[2:], lines


def test_the_steps_of_the_guide_do_what_it_says(tmp_path):
    """docs/guides/profiling.md: its program, its commands and what they print."""
    port = str(free_port())
    shutil.copy(built("profile_guide"), tmp_path / "primes")
    variables = {**environment(), "PATH": f"{pathlib.Path(built('katana')).parent}:{os.environ['PATH']}"}
    server = None
    count = 0
    try:
        for command, lines in steps_of_guide():
            command, lines = command.replace("8080", port), [line.replace("8080", port) for line in lines]
            count += 1
            if server is None:
                server = subprocess.Popen(["/bin/sh", "-c", f"exec {command}"], cwd=tmp_path, text=True, env=variables,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                printed = server.stdout.readline()
            else:
                printed = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env=variables, text=True,
                                         timeout=180, capture_output=True, check=False).stdout
            pattern = "".join(".*".join(re.escape(part) for part in line.split("…")) + "\n" for line in lines)
            assert re.fullmatch(pattern, printed), (command, lines, printed)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert count == 5
    assert "is_prime(long)" in tmp_path.joinpath("primes.html").read_text(encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
