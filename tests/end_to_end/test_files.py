"""Static files through curl: every engine, whole and in ranges, conditional, and cut short."""
import gzip
import os
import socket
import subprocess

import pytest

from server_process import PROGRAM, Server, built
from test_clients import curl

MIB = 1 << 20
OLD = 784111777     # Sun, 06 Nov 1994 08:49:37 GMT


def write(folder, name, content, modified=OLD):
    """Write a file of that date."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (modified, modified))
    return content


@pytest.fixture
def folder(tmp_path):
    """A folder to serve, and a secret beside it."""
    public = tmp_path / "public"
    public.mkdir()
    write(tmp_path, "secret", b"secret")
    return public


@pytest.fixture
def files(engine, folder):
    """A server of the folder on each engine in turn."""
    with Server("--files", str(folder), engine=engine) as running:
        yield running


def test_files_of_every_size_arrive_whole(files, folder, tool):
    """Files that are copied, files that the kernel sends, and files that take many turns; on one connection."""
    content = {f"f{size}": write(folder, f"f{size}", os.urandom(size))
               for size in (0, 1, 1024, 8 * 1024, 8 * 1024 + 1, 100_000, 5 * MIB + 3)}
    urls = [argument for name in content
            for argument in ("-o", str(folder / (name + ".got")), files.url("/files/" + name))]
    seen = curl(tool, "-w", "%{http_code} %{num_connects}\n", *urls).stdout.split()
    assert seen == [b"200", b"1"] + [b"200", b"0"] * (len(content) - 1)
    for name, expected in content.items():
        assert (folder / (name + ".got")).read_bytes() == expected, name


def test_many_readers_of_a_long_file_all_get_it(files, folder, tool):
    """In parallel, and so with waits for room in between."""
    expected = write(folder, "long", os.urandom(3 * MIB))
    urls = [argument for number in range(8)
            for argument in ("-o", str(folder / f"got{number}"), files.url("/files/long"))]
    curl(tool, "--parallel", "--parallel-immediate", *urls)
    for number in range(8):
        assert (folder / f"got{number}").read_bytes() == expected, number


def test_an_interrupted_download_goes_on(files, folder, tool):
    """-C: a range up to the end; several ranges; a range that is not there."""
    expected = write(folder, "long", os.urandom(300_000))
    partial = folder / "partial"
    partial.write_bytes(expected[:123_456])
    curl(tool, "-C", "-", "-o", str(partial), files.url("/files/long"))
    assert partial.read_bytes() == expected
    several = curl(tool, "-i", "-r", "0-9,299990-", files.url("/files/long")).stdout
    head, _, body = several.partition(b"\r\n\r\n")
    assert b"206 Partial Content" in head and b"multipart/byteranges" in head, head
    assert expected[:10] in body and expected[-10:] in body and body.count(b"Content-Range: bytes") == 2
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    assert length == len(body)
    refused = curl(tool, "-i", "-r", "300000-", files.url("/files/long")).stdout
    assert b" 416 " in refused.splitlines()[0] and b"Content-Range: bytes */300000" in refused


def test_what_curl_has_it_does_not_get_again(files, folder, tool):
    """--etag-compare and -z: 304 without content; and 200 once the file is another one."""
    write(folder, "page.html", b"<p>one</p>")
    url, tag, got = files.url("/files/page.html"), folder / "tag", folder / "got"
    form = "%{http_code} %{size_download} %{content_type}"
    seen = curl(tool, "-o", str(got), "-w", form, "--etag-save", str(tag), url).stdout
    assert seen == b"200 10 text/html; charset=utf-8"
    assert curl(tool, "-o", str(got), "-w", form, "--etag-compare", str(tag), url).stdout.startswith(b"304 0")
    assert curl(tool, "-w", "%{http_code}", "-o", str(got), "-z", "Sun, 06 Nov 1994 08:49:37 GMT", url).stdout == b"304"
    assert curl(tool, "-w", "%{http_code}", "-o", str(got), "-z", "Sun, 06 Nov 1994 08:49:36 GMT", url).stdout == b"200"


def test_a_coded_file_is_sent_to_those_who_can_decode_it(files, folder, tool):
    """The sibling, decoded by curl, which has the content of the file."""
    expected = write(folder, "app.js", b"let x = 1;\n" * 1000)
    coded = write(folder, "app.js.gz", gzip.compress(expected))
    url = files.url("/files/app.js")
    assert curl(tool, "--compressed", "-H", "Accept-Encoding: gzip", url).stdout == expected
    assert curl(tool, "-H", "Accept-Encoding: gzip", url).stdout == coded
    assert curl(tool, url).stdout == expected


def test_nothing_outside_of_the_folder_is_served(files, folder, tool):
    """Paths that climb, and links that lead out."""
    (folder / "out").symlink_to(folder.parent)
    (folder / "passwd").symlink_to("/etc/passwd")
    paths = ("../secret", "%2e%2e/secret", "..%2fsecret", "x/../../secret", "out/secret", "passwd", "%2fetc/passwd",
             "/etc/passwd", "....//secret", "..;/secret", "%252e%252e/secret", "..%5csecret", ".%00./secret")
    urls = [argument for path in paths for argument in ("-o", "/dev/null", files.url("/files/" + path))]
    seen = curl(tool, "--path-as-is", "-w", "%{http_code}\n", *urls).stdout.split()
    assert set(seen) <= {b"404", b"400"} and len(seen) == len(paths), list(zip(paths, seen))


def test_a_file_that_is_cut_short_breaks_its_connection(files, folder):
    """The client sees neither a reply that seems to be whole, nor one that never ends."""
    write(folder, "long", bytes(64 * MIB))
    with files.connect(receive_buffer=64 * 1024) as sock:
        sock.sendall(b"GET /files/long HTTP/1.1\r\nHost: x\r\n\r\n")
        received = len(sock.recv(1024))
        os.truncate(folder / "long", 1)
        with pytest.raises(ConnectionResetError):
            while piece := sock.recv(MIB):
                received += len(piece)
            raise AssertionError(f"the connection ended in an orderly way after {received} bytes")
        assert received < 64 * MIB
    write(folder, "next", b"goes on")
    with socket.create_connection(("127.0.0.1", files.port), timeout=10) as sock:
        sock.sendall(b"GET /files/next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        reply = b""
        while piece := sock.recv(4096):
            reply += piece
    assert reply.endswith(b"goes on")


def test_a_folder_that_is_missing_is_an_error_at_the_start(tmp_path, tool):
    """One line that names it; exit 1."""
    result = subprocess.run([built(PROGRAM), "--port", "0", "--files", str(tmp_path / "missing")],
                            capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 1 and result.stdout == ""
    assert "missing" in result.stderr and len(result.stderr.splitlines()) == 1, result.stderr


def test_a_file_is_compressed_on_its_way_and_an_upload_decoded(engine, folder, tool):
    """--compress: curl decodes the replies, in pieces of any protocol; a bomb is refused."""
    expected = write(folder, "long.txt", b"".join(b"line %d\n" % number for number in range(100_000)))
    with Server("--files", str(folder), "--compress", engine=engine) as server:
        for coding in ("gzip", "br", "zstd"):
            url = server.url("/files/long.txt")
            head = curl(tool, "-I", "-H", f"Accept-Encoding: {coding}", url).stdout.decode()
            assert f"Content-Encoding: {coding}\r\n" in head and "Vary: Accept-Encoding\r\n" in head, head
        got = curl(tool, "--compressed", "-H", "Accept-Encoding: gzip", "-w", "\n%{size_download}", url).stdout
        content, _, size = got.rpartition(b"\n")
        assert content == expected and int(size) < len(expected) / 3
        upload = folder / "upload.gz"
        upload.write_bytes(gzip.compress(expected))
        post = ("-H", "Content-Encoding: gzip", "--data-binary", f"@{upload}", "-w", " %{http_code}",
                server.url("/upload"))
        assert curl(tool, *post).stdout == b"%d bytes 200" % len(expected)
        upload.write_bytes(gzip.compress(bytes(64 * MIB)))
        assert curl(tool, *post).stdout.endswith(b" 413")
        upload.write_bytes(b"no gzip")
        assert curl(tool, *post).stdout.endswith(b" 400")

# SPDX-License-Identifier: Apache-2.0
