"""Recipes of the guides, deployed as they are printed, and asked as a stranger asks.

The tests read the text of the guides (recipes.py) and do not repeat it. They only replace names of files and ports. A
block of a language that no test deploys fails test_every_recipe_is_deployed.
"""
import json
import os
import re
import shutil
import subprocess

import httpx
import pytest
import yaml

from fullstack_process import FullStack, environment, flags_of
from program_process import ROOT, built
from proxies import caddy, haproxy, nginx, write_certificate
from recipes import block, blocks, renamed, replaced, variables, variables_of_command
from server_process import free_port
from stranger import FORGED, LISTS, STRANGER, Stranger, is_rebound, sees_operations
from test_login import GUARDED, PASSWORD, hash_of

BOTH = ("ask", "ask_h2")
ONE = ("ask",)
# Guides whose blocks are deployed, and the languages of the blocks that are configurations.
GUIDES = ("deploy.md", "behind-a-proxy.md", "container.md", "fullstack.md")
CONFIGURATIONS = {"nginx", "haproxy", "caddy", "yaml", "sh"}
# The fields that tell clients of https: a test then sees whether the program knows of it.
HTTPS_IS_SEEN = ("http.security_headers.enabled=true", "http.tls.hsts=8760h")


class Deployed(FullStack):
    """fullstack with variables, or with the settings, of a recipe; its records of requests are in access.jsonl."""

    def __init__(self, folder, sets=(), given=None, flags=(), recipe=None):
        self.given = given or {}
        if recipe is not None:
            (folder / "recipe.yaml").write_text(recipe)
            flags = ("--config", "recipe.yaml", *flags)
        super().__init__(folder, *flags, sets=(*sets, "log.json_file=access.jsonl"), shared=True)

    def _start(self, name, command, shared=False, **options):
        options["env"] = environment(**self.given)
        super()._start(name, command, shared, **options)

    def record_of(self, mark):
        """The record of the request whose target has the mark, once it is written."""
        for _ in range(400):
            path = self.folder / "access.jsonl"
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            found = [json.loads(line) for line in lines if mark in line and line.endswith("}")]
            if found:
                return found[0]
            self.client.get("/health")  # a record comes later than its reply
        raise AssertionError(f"no record of {mark}")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Files of a certificate for both sites of the guides."""
    return write_certificate(tmp_path_factory.mktemp("tls"), "shop.example", "notes.example.org")


# ---- the sites -----------------------------------------------------------------------------------

class Site:
    """A program behind a proxy: how a stranger reaches it, and how its operators do."""

    def __init__(self, name, program, proxy, ports, operations):
        self.name, self.program, self.proxy, self.operations = name, program, proxy, operations
        self.https, self.http = ports
        self.scheme = program.ready[0].split(" listening on ")[1].split(":")[0]  # scheme of the program itself

    def stranger(self, source=STRANGER):
        """A stranger that connects by TLS."""
        return Stranger(self.https, self.name, tls=True, source=source)

    def plain_stranger(self):
        """Without."""
        return Stranger(self.http, self.name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.proxy.kill()
        self.program.__exit__(*error)


def behind_nginx(folder, certificate, sets=(), flags=()):
    """deploy.md, Behind nginx, with the variables that it prints."""
    operations, https, http = free_port(), free_port(), free_port()
    given = renamed(variables(block("deploy.md", "Behind nginx", "sh")))
    assert given.pop("KATANA_OPERATIONS__PORT") == "9100"
    program = Deployed(folder, (*HTTPS_IS_SEEN, *sets), {**given, "KATANA_OPERATIONS__PORT": str(operations)}, flags)
    text = replaced(block("deploy.md", "Behind nginx", "nginx"), {
        "listen 80;": f"listen 127.0.0.1:{http};", "listen 443 ssl": f"listen 127.0.0.1:{https} ssl",
        "/etc/ssl/notes.pem": certificate["chain"], "/etc/ssl/private/notes.key": certificate["key"],
        "127.0.0.1:8080": f"127.0.0.1:{program.port}"})
    return Site("notes.example.org", program, nginx(folder, text, (https, http)), (https, http), operations)


def behind_nginx_by_a_socket(folder, certificate):
    """behind-a-proxy.md, By a Unix socket."""
    operations, https = free_port(), free_port()
    socket = folder / "http.sock"
    changes = {"unix:/run/shop/http.sock": f"unix:{socket}"}
    if os.geteuid() != 0:
        changes[", owner: \":www-data\""] = ""  # the owner can only be set by root
    changes["port: 9100"] = f"port: {operations}"
    recipe = replaced(block("behind-a-proxy.md", "By a Unix socket", "yaml"), changes)
    program = Deployed(folder, HTTPS_IS_SEEN, recipe=recipe)
    text = replaced(block("behind-a-proxy.md", "By a Unix socket", "nginx"), {
        "listen 443 ssl": f"listen 127.0.0.1:{https} ssl", "unix:/run/shop/http.sock": f"unix:{socket}",
        "/etc/ssl/shop.pem": certificate["chain"], "/etc/ssl/private/shop.key": certificate["key"]})
    return Site("shop.example", program, nginx(folder, text, (https,)), (https, None), operations)


def behind_haproxy(folder, certificate):
    """behind-a-proxy.md, HAProxy."""
    operations, https, http = free_port(), free_port(), free_port()
    recipe = replaced(block("behind-a-proxy.md", "HAProxy", "yaml"), {"port: 9100": f"port: {operations}"})
    program = Deployed(folder, HTTPS_IS_SEEN, recipe=recipe)
    text = replaced(block("behind-a-proxy.md", "HAProxy", "haproxy"), {
        "bind :80": f"bind 127.0.0.1:{http}", "bind :443": f"bind 127.0.0.1:{https}",
        "/etc/haproxy/shop.pem": certificate["both"], "127.0.0.1:8080": f"127.0.0.1:{program.port}"})
    return Site("shop.example", program, haproxy(folder, text, (https, http)), (https, http), operations)


def behind_caddy(folder, certificate):
    """behind-a-proxy.md, Caddy; the certificate is the test's, as Caddy's own comes from the Internet."""
    operations, https = free_port(), free_port()
    recipe = replaced(block("behind-a-proxy.md", "Caddy", "yaml"), {"port: 9100": f"port: {operations}"})
    program = Deployed(folder, HTTPS_IS_SEEN, recipe=recipe)
    text = replaced(block("behind-a-proxy.md", "Caddy", "caddy"), {
        "shop.example {": f"https://shop.example:{https} {{\n    bind 127.0.0.1\n"
                          f"    tls {certificate['chain']} {certificate['key']}",
        "127.0.0.1:8080": f"127.0.0.1:{program.port}"})
    return Site("shop.example", program, caddy(folder, text, (https,)), (https, None), operations)


def behind_the_proxy_protocol(folder, certificate, proxy):
    """behind-a-proxy.md, The PROXY protocol: TLS is the program's, and the proxy knows nothing of HTTP."""
    operations, https, own = free_port(), free_port(), free_port()
    recipe = replaced(block("behind-a-proxy.md", "The PROXY protocol", "yaml"), {
        "/etc/ssl/shop.pem": certificate["chain"], "/etc/ssl/private/shop.key": certificate["key"],
        "port: 8443": f"port: {own}", "port: 9100": f"port: {operations}"})
    os.chmod(certificate["key"], 0o600)
    program = Deployed(folder, HTTPS_IS_SEEN, recipe=recipe)
    address = {"127.0.0.1:8443": f"127.0.0.1:{own}"}
    if proxy == "haproxy":
        text = replaced(block("behind-a-proxy.md", "The PROXY protocol", "haproxy"),
                        {"bind :443": f"bind 127.0.0.1:{https}", **address})
        running = haproxy(folder, text, (https,))
    else:
        text = replaced(block("behind-a-proxy.md", "The PROXY protocol", "nginx"),
                        {"listen 443;": f"listen 127.0.0.1:{https};", **address})
        running = nginx(folder, text, (https,), is_stream=True)
    return Site("shop.example", program, running, (https, None), operations)


SITES = {
    "nginx": behind_nginx,
    "nginx_socket": behind_nginx_by_a_socket,
    "haproxy": behind_haproxy,
    "caddy": behind_caddy,
    "proxy_protocol_haproxy": lambda folder, certificate: behind_the_proxy_protocol(folder, certificate, "haproxy"),
    "proxy_protocol_nginx": lambda folder, certificate: behind_the_proxy_protocol(folder, certificate, "nginx"),
}


@pytest.fixture(scope="module", params=SITES, name="site")
def deployed_site(request, tmp_path_factory, certificate):
    """Each recipe of a proxy in turn."""
    with SITES[request.param](tmp_path_factory.mktemp(request.param), certificate) as running:
        yield running


# ---- what a stranger sees of each of them --------------------------------------------------------

def test_every_page_of_operators_is_hidden_from_a_stranger(site):
    """By any path, any Host and any header, by both versions, with TLS and without. The operator has the pages."""
    assert sees_operations(site.stranger(), BOTH) == []
    if site.http:
        assert sees_operations(site.plain_stranger(), ONE) == []
    own = httpx.get(f"{site.scheme}://127.0.0.1:{site.operations}/metrics", timeout=20, verify=False)
    assert own.status_code == 200 and "katana_" in own.text


def test_the_site_is_served_and_probes_tell_a_status_alone(site):
    """By both versions; a load balancer needs no more."""
    for version in BOTH:
        answer = getattr(site.stranger(), version)("/api/users")
        assert answer.status == 200 and answer.shows_application(), answer
        for probe in ("/health", "/ready"):
            answer = getattr(site.stranger(), version)(probe)
            assert json.loads(answer.body) == {"status": "pass"}, answer


def test_a_name_that_leads_here_and_is_not_the_sites_gets_nothing(site):
    """DNS rebinding: what a browser sends in Host, and what fetch() may add."""
    assert is_rebound(site.stranger(), BOTH) == []


def test_no_header_changes_who_the_client_is(site):
    """Each header alone, as a list, twice, and all of them: the log has the address that the proxy saw."""
    forged = [{name: value.replace("127.0.0.1", "198.51.100.9")} for name, value in (*FORGED.items(), *LISTS.items())
              if name not in ("Authorization", "Connection", "X-Original-URL", "X-Rewrite-URL")]
    forged.append([("X-Forwarded-For", "198.51.100.9"), ("X-Forwarded-For", "198.51.100.8")])
    forged.append([("Forwarded", "for=198.51.100.9"), ("X-Forwarded-For", "198.51.100.9"),
                   ("X_Forwarded_For", "198.51.100.9")])
    forged.append([pair for each in forged[:-2] for pair in each.items() if pair[0] != "Via"])
    for number, fields in enumerate(forged):
        for version in BOTH:
            mark = f"/api/users?limit={number + 1}&after={BOTH.index(version)}"
            answer = getattr(site.stranger(), version)(mark, None, fields)
            assert answer.status in (200, 400), (fields, answer)
            if answer.status == 400:
                continue  # the proxy, or the program, takes it for no request at all
            record = site.program.record_of(mark)
            client = record.get("client", record.get("peer"))
            assert client.rsplit(":", 1)[0] in (STRANGER, f"{STRANGER}:0") or client == STRANGER, (fields, record)


def test_ids_in_the_log_are_not_the_strangers(site):
    """Neither a request id nor a trace comes from the stranger, unless the proxy knows nothing of HTTP."""
    if "proxy_protocol" in site.program.folder.name:
        pytest.skip("a proxy of TCP writes no header; http.trust_request_ids says whose ids are taken")
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = site.stranger().ask("/api/users?limit=77", None,
                                 {"X-Request-Id": "chosen-by-a-stranger",
                                  "traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
    assert answer.status == 200 and answer.fields["x-request-id"] != "chosen-by-a-stranger"
    assert trace not in json.dumps(site.program.record_of("limit=77"))


def test_https_is_known_and_cannot_be_claimed(site):
    """HSTS goes to those who have come by TLS; without it no header of the client says so."""
    assert "strict-transport-security" in site.stranger().ask("/api/users").fields
    claimed = {"X-Forwarded-Proto": "http"}
    assert "strict-transport-security" in site.stranger().ask_h2("/api/users", None, claimed).fields
    if not site.http:
        return
    for fields in ({"X-Forwarded-Proto": "https"}, {"Forwarded": "proto=https"}, {"X-Forwarded-Proto": "https, https"}):
        answer = site.plain_stranger().ask("/api/users", None, fields)
        assert answer.status in (301, 308) and answer.fields["location"].startswith(f"https://{site.name}/"), answer


# ---- what needs settings beside a recipe ----------------------------------------------------------

def test_logins_are_throttled_by_the_address_that_the_proxy_saw(tmp_path, certificate):
    """Guesses of one client stop that client, whatever it says of itself, and no other client."""
    accounts = [{"name": f"user{number}", "password": hash_of(PASSWORD), "roles": []} for number in range(2)]
    guarded = {**GUARDED, "sessions": {"store": "memory", "secure": False, "cookie_name": "session"}}
    whole = {**guarded, "audit": {"file": "audit.jsonl"}, "login": {"enabled": True, "accounts": accounts}}
    (tmp_path / "login.yaml").write_text(json.dumps(whole))

    def log_in(client, name, password, fields=()):
        page = client.ask("/login")
        token = re.search(rb'name="csrf_token" value="([^"]+)"', page.body)[1].decode()
        cookie = page.fields["set-cookie"].split(";")[0]
        form = str(httpx.QueryParams({"name": name, "password": password, "csrf_token": token})).encode()
        head = [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin"),
                ("Content-Type", "application/x-www-form-urlencoded")]
        return client.ask("/login", None, [*head, *fields], "POST", form).status

    with behind_nginx(tmp_path, certificate, flags=("--config", "login.yaml")) as site:
        guesser, other = site.stranger(), site.stranger("127.0.0.3")
        forged = [{"X-Forwarded-For": f"198.51.100.{number}", "Forwarded": f"for=198.51.100.{number}"}
                  for number in range(40)]
        statuses = [log_in(guesser, f"nobody{number}", "guess", fields.items())
                    for number, fields in enumerate(forged)]
        assert statuses[:5] == [401] * 5 and statuses[-1] == 429, statuses
        assert log_in(other, "user0", PASSWORD) == 303
        records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
        addresses = {each["address"] for each in records if each["action"] == "login"}
        assert addresses == {STRANGER, "127.0.0.3"}, addresses


def check_config(folder, sets=(), given=None, *flags):
    """The output of --check-config."""
    command = [built("fullstack"), "--check-config", *flags_of(sets), *flags]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment(**(given or {})),
                          timeout=20, check=False)


def test_check_config_has_nothing_against_a_recipe_of_a_proxy(tmp_path):
    """A recipe of a guide has no insecure setting. Missing files and tests that run as root are not its fault."""
    recipes = {title: block("behind-a-proxy.md", title, "yaml") for title in ("HAProxy", "Caddy", "By a Unix socket")}
    said = {"nginx": check_config(tmp_path, (), renamed(variables(block("deploy.md", "Behind nginx", "sh"))))}
    for title, text in recipes.items():
        (tmp_path / "recipe.yaml").write_text(text)
        said[title] = check_config(tmp_path, (), None, "--config", "recipe.yaml")
    for title, done in said.items():
        insecure = [line for line in done.stderr.splitlines() if "insecure" in line and "process.user" not in line]
        assert done.returncode == 0 and insecure == [] and "note:" not in done.stderr, (title, done.stderr)


@pytest.mark.parametrize("left_out, named", [
    ("KATANA_HTTP__HOSTS", "http.hosts"),
    ("KATANA_HTTP__TRUSTED_PROXIES", "http.trusted_proxies"),
    ("KATANA_HTTP__FORWARDED", "http.forwarded"),
    ("KATANA_OPERATIONS__PORT", "operations.port"),
])
def test_check_config_names_what_is_left_out_of_a_recipe(tmp_path, left_out, named):
    """With the key and the remedy; and nothing is shown to strangers meanwhile."""
    given = renamed(variables(block("deploy.md", "Behind nginx", "sh")))
    del given[left_out]
    said = check_config(tmp_path, (), given).stderr
    assert re.search(rf"(insecure|note): {re.escape(named)} is ", said), said


@pytest.mark.parametrize("sets", [
    ("http.hosts=[shop.example]",), ("http.trusted_proxies=[127.0.0.1]", "http.forwarded=x_forwarded"),
    ("http.hosts=[shop.example]", "http.trusted_proxies=[127.0.0.1]", "http.forwarded=x_forwarded"),
    ("http.trusted_proxies=[127.0.0.1]", "http.forwarded=forwarded", "http.forwarded_parts=[for, proto, host]"),
])
def test_without_a_listener_for_operators_the_pages_are_nobodys_behind_a_proxy(tmp_path, sets):
    """From the proxy's own address, with the headers of a good recipe, with those of a bad one, and with none."""
    with FullStack(tmp_path, sets=sets) as program:
        said = [line for line in program.stderr().splitlines() if "operations pages" in line]
        assert len(said) == 1 and "are off" in said[0] and "operations.token" in said[0], said
        direct = Stranger(program.port, "shop.example", source="127.0.0.1")
        assert sees_operations(direct, ONE) == []
        assert direct.ask("/health").status == 200


def test_without_any_configuration_the_pages_are_the_machines_and_gone_with_a_trace_of_a_proxy(tmp_path):
    """`make run`: a developer opens the pages. Only a proxy without a trace that passes on a loopback name sees them,
    too."""
    with FullStack(tmp_path) as program:
        direct = Stranger(program.port, f"127.0.0.1:{program.port}", source="127.0.0.1")
        for path in ("/metrics", "/", "/dashboard.js"):
            assert direct.ask(path).status == 200, path
        assert "checks" in json.loads(direct.ask("/ready").body)
        assert "before a proxy or a tunnel leads here" in program.stderr()
        for name in FORGED:
            if name.startswith(("X-Forwarded", "Forwarded", "X-Real", "Via", "CF-", "X-Client", "True-", "X-Clus")):
                assert direct.ask("/metrics", None, {name: FORGED[name]}).status == 404, name
        assert direct.ask("/metrics", "shop.example").status == 421


# ---- units, images, pods ------------------------------------------------------------------------

def unit_of(path):
    """The lines of [Service] of a unit, by name; of a name that comes again the values are a list."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_starts_what_it_says_and_shows_strangers_nothing(tmp_path, certificate):
    """ExecStart= with Environment= and the variables of the guide, behind the nginx of the guide."""
    unit = unit_of(ROOT / "packaging" / "systemd" / "fullstack.service")
    command = unit["ExecStart"][0].split()
    assert command[0] == "/usr/bin/fullstack" and unit["EnvironmentFile"] == ["-/etc/default/fullstack"]
    given = dict(each.split("=", 1) for each in unit["Environment"])
    with behind_nginx(tmp_path, certificate, flags=command[1:], sets=[]) as site:
        assert sees_operations(site.stranger(), ONE) == []
    assert given == {"KATANA_LOG__FILE": ""}
    with Deployed(tmp_path, (), given) as program:
        assert httpx.get(program.url("/health")).status_code == 200


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: make setup")
def test_systemd_takes_the_units_as_they_are_printed(tmp_path):
    """systemd-analyze verify: no line that it does not know; but the program is not where the package puts it."""
    for name in ("fullstack.service", "fullstack.socket"):
        text = (ROOT / "packaging" / "systemd" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("/usr/bin/fullstack", built("fullstack")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", tmp_path / "fullstack.service",
                           tmp_path / "fullstack.socket"], capture_output=True, text=True, timeout=60, check=False)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "fullstack" in line]
    assert ours == [], ours


def containerfile(path, values=None):
    """ENV and ENTRYPOINT of the last stage of a Containerfile; `values`: of a template."""
    text = path.read_text(encoding="utf-8")
    for name, value in (values or {}).items():
        text = text.replace("{{" + name + "}}", value)
    last = text[text.rindex("\nFROM "):]
    lines = [line.split()[1:] for line in last.splitlines() if line.startswith("ENV ")]
    given = dict(each.split("=", 1) for line in lines for each in line)
    return given, json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", last, re.MULTILINE)[1])


def test_an_image_shows_strangers_nothing(tmp_path):
    """ENV and ENTRYPOINT of Containerfile, with the variables of the guide's command and without."""
    given, entry = containerfile(ROOT / "Containerfile")
    assert given["KATANA_HTTP__ADDRESS"] == "0.0.0.0"
    own, _ = containerfile(ROOT / "apps" / "katana_tool" / "templates" / "Containerfile.in",
                           {"name": "notes", "prefix": "NOTES"})
    assert renamed(own) == {"KATANA_HTTP__ADDRESS": "0.0.0.0"}, "a project's image is that of fullstack"
    command = next(each.text for each in blocks("deploy.md") if each.title == "Container" and "podman run" in each.text)
    more = renamed(variables_of_command(command))
    assert set(more) == {"KATANA_HTTP__HOSTS", "KATANA_HTTP__TRUSTED_PROXIES", "KATANA_HTTP__FORWARDED"}
    for number, variables_given in enumerate((given, {**given, **more})):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Deployed(folder, ("log.file=",), variables_given, entry[1:]) as program:
            assert sees_operations(Stranger(program.port, "notes.example.org"), ONE) == []
            assert Stranger(program.port, "notes.example.org").ask("/api/users").status == 200
            check = [built("fullstack"), *entry[1:], "--health-check", "--set", f"http.port={program.port}"]
            done = subprocess.run(check, cwd=folder, env=environment(**variables_given), timeout=60, check=False)
            assert done.returncode == 0
        assert "note: operations.port is 0" in check_config(folder, (), variables_given).stderr


# The variables that Kubernetes adds for a Service with the name of the program's prefix.
SERVICE = {"KATANA_SERVICE_HOST": "10.43.7.9", "KATANA_SERVICE_PORT": "80", "KATANA_SERVICE_PORT_HTTP": "80",
           "KATANA_PORT": "tcp://10.43.7.9:80", "KATANA_PORT_80_TCP": "tcp://10.43.7.9:80",
           "KATANA_PORT_80_TCP_PROTO": "tcp", "KATANA_PORT_80_TCP_PORT": "80", "KATANA_PORT_80_TCP_ADDR": "10.43.7.9"}


def test_a_pod_shows_its_operators_the_pages_by_token_and_strangers_nothing(tmp_path):
    """The Deployment of the guide, with the variables that Kubernetes makes of Services, although it asks for none."""
    pod = yaml.safe_load(block("deploy.md", "Kubernetes", "yaml"))["spec"]["template"]["spec"]
    container, token = pod["containers"][0], "a-token-of-the-secret-0123"
    given = {each["name"]: each.get("value", token) for each in container["env"]}
    assert pod["enableServiceLinks"] is False and pod["terminationGracePeriodSeconds"] > 10
    image, _ = containerfile(ROOT / "Containerfile")
    operations, ports = free_port(), {each["name"]: each["containerPort"] for each in container["ports"]}
    assert given.pop("NOTES_OPERATIONS__PORT") == str(ports["operations"])
    every = {**image, **renamed(given), **SERVICE, "KATANA_OPERATIONS__PORT": str(operations)}
    with Deployed(tmp_path, ("log.file=",), every) as program:
        said = program.stderr()
        assert said.count("sets nothing: Kubernetes makes it of a Service") == len(SERVICE), said
        stranger = Stranger(program.port, "notes.example.org")
        assert sees_operations(stranger, ONE) == [] and is_rebound(stranger, ONE) == []
        for kind in ("livenessProbe", "readinessProbe"):
            probe = container[kind]["httpGet"]
            assert probe["port"] == ports["http"]
            answer = stranger.ask(probe["path"], "10.42.0.17:8080")  # by the address of the pod
            assert answer.status == 200 and json.loads(answer.body) == {"status": "pass"}
        scrape = Stranger(operations, f"10.42.0.17:{operations}")
        assert scrape.ask("/metrics").status == 401
        assert scrape.ask("/metrics", None, {"Authorization": f"Bearer {token}"}).status == 200
        mark = "/api/users?limit=91"
        assert stranger.ask(mark, None, {"X-Forwarded-For": "198.51.100.9"}).status == 200
        assert "198.51.100.9" not in json.dumps(program.record_of(mark)), "nobody there is a trusted proxy"


def test_every_recipe_is_deployed():
    """A new block of a configuration in these guides needs a test here."""
    deployed = {
        ("deploy.md", "Behind nginx", "nginx"), ("deploy.md", "Behind nginx", "sh"),
        ("deploy.md", "Kubernetes", "yaml"),
        ("behind-a-proxy.md", "HAProxy", "haproxy"), ("behind-a-proxy.md", "HAProxy", "yaml"),
        ("behind-a-proxy.md", "Caddy", "caddy"), ("behind-a-proxy.md", "Caddy", "yaml"),
        ("behind-a-proxy.md", "By a Unix socket", "nginx"), ("behind-a-proxy.md", "By a Unix socket", "yaml"),
        ("behind-a-proxy.md", "The PROXY protocol", "haproxy"), ("behind-a-proxy.md", "The PROXY protocol", "nginx"),
        ("behind-a-proxy.md", "The PROXY protocol", "yaml"),
    }
    checked = {("behind-a-proxy.md", "Get the client's address", "yaml"),
               ("behind-a-proxy.md", "Limits by client", "yaml"), ("fullstack.md", "Logins", "yaml")}
    found = {(each.guide, each.title, each.language) for guide in GUIDES for each in blocks(guide)
             if each.language in CONFIGURATIONS}
    assert found == deployed | checked, found ^ (deployed | checked)
    for guide in GUIDES:
        for each in blocks(guide):
            looks = re.search(r"^\s*(proxy_pass|proxy_set_header|reverse_proxy|frontend|http:)", each.text, re.M)
            assert each.language in CONFIGURATIONS or not looks, f"{each} has no language that says what it is"


@pytest.mark.parametrize("title", ["Get the client's address", "Limits by client"])
def test_settings_that_a_guide_prints_are_valid(tmp_path, title):
    """The blocks of settings that are no whole deployment."""
    (tmp_path / "given.yaml").write_text(block("behind-a-proxy.md", title, "yaml"))
    done = check_config(tmp_path, (), None, "--config", "given.yaml")
    assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: Apache-2.0
