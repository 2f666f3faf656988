"""nginx, HAProxy and Caddy as child processes, with a configuration that a guide prints."""
import os
import socket
import subprocess
import time

SECONDS_MAX = 20
NGINX_STREAM = "/usr/lib/nginx/modules/ngx_stream_module.so"


def write_certificate(folder, *names):
    """Write site.pem, site.key and both.pem, for HAProxy, self-signed; return their paths by name."""
    chain, key, both = (folder / name for name in ("site.pem", "site.key", "both.pem"))
    alternatives = ",".join(f"DNS:{each}" for each in names)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "30", "-subj", f"/CN={names[0]}", "-addext", f"subjectAltName={alternatives}",
                    "-keyout", key, "-out", chain], check=True, capture_output=True, timeout=20)
    both.write_text(chain.read_text() + key.read_text())
    return {"chain": str(chain), "key": str(key), "both": str(both)}


class Proxy:
    """One proxy. A context manager that ends it; its output is in `log`."""

    def __init__(self, folder, command, ports, variables=None):
        self.path = folder / "proxy.log"
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **(variables or {})})
        try:
            for port in ports:
                self._wait_for(port)
        except BaseException:
            self.kill()
            raise

    def log(self):
        """Return its output."""
        return self.path.read_text(encoding="utf-8", errors="replace")

    def _wait_for(self, port):
        end = time.monotonic() + SECONDS_MAX
        while True:
            assert self.process.poll() is None, f"{self.process.args[0]} ended: {self.log()}"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < end, f"nobody listens on port {port}: {self.log()}"
                time.sleep(0.01)

    def kill(self):
        """End it, and the processes that it has started: each proxy ends its workers by SIGTERM."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(SECONDS_MAX)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def nginx(folder, text, ports, is_stream=False):
    """Start nginx with blocks of http, or with a whole block of stream."""
    names = ("client_body_temp", "proxy_temp", "fastcgi_temp", "uwsgi_temp", "scgi_temp")
    places = "".join(f"{name}_path {folder / name};\n" for name in names)
    head = "daemon off;\nerror_log stderr;\nworker_processes 1;\n" f"pid {folder / 'nginx.pid'};\n"
    if os.geteuid() == 0:
        head += "user root;\n"  # the folder of the test is for its user alone
    if is_stream:
        whole = f"load_module {NGINX_STREAM};\n{head}events {{}}\n{text}"
    else:
        whole = f"{head}events {{}}\nhttp {{\naccess_log off;\n{places}{text}}}\n"
    (folder / "nginx.conf").write_text(whole)
    return Proxy(folder, ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], ports)


def haproxy(folder, text, ports):
    """Start HAProxy; `text` is all of its configuration but `global`."""
    (folder / "haproxy.cfg").write_text(text)
    return Proxy(folder, ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], ports)


def caddy(folder, text, ports):
    """Start Caddy, without its administration, and with its files in the folder."""
    (folder / "Caddyfile").write_text("{\n    admin off\n    auto_https disable_redirects\n}\n" + text)
    variables = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return Proxy(folder, command, ports, variables)

# SPDX-License-Identifier: Apache-2.0
