"""Forms of many parts hold few descriptors, and leave those of others alone."""
import os
import re

from application_process import Application

FORMS = 8
LARGE, SMALL = 17, 970    # the large ones fill what a form may keep in memory, so each small one goes to a file


def form_content():
    """Return a form of nearly a thousand parts without its end."""
    part = b'--B\r\nContent-Disposition: form-data; name="p"\r\n\r\n%s\r\n'
    return part % (b"x" * 65536) * LARGE + part % b"y" * SMALL


def descriptors(process):
    """Return how many descriptors of the process are unnamed files, and how many there are in all."""
    folder = f"/proc/{process.pid}/fd"
    links = []
    for name in os.listdir(folder):
        try:
            links.append(os.readlink(f"{folder}/{name}"))
        except FileNotFoundError:
            pass
    return sum(re.match(r"/.*/#[0-9]+ \(deleted\)", link) is not None for link in links), len(links)


def test_eight_forms_of_a_thousand_parts_hold_eight_files_and_stop_nobody(tmp_path):
    """With 1,024 descriptors for the process, unfinished forms leave enough of them for others."""
    content, end = form_content(), b"--B--\r\n"
    head = (f"POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=B\r\n"
            f"Content-Length: {len(content) + len(end)}\r\n\r\n").encode()
    with Application(tmp_path, descriptors_max=1024) as running:
        before = descriptors(running.process)[1]
        uploads = [running.connect() for _ in range(FORMS)]
        for upload in uploads:
            upload.sendall(head + content)
        status, text, _ = running.get("/greeting")
        assert (status, text) == (200, "Hello")
        for _ in range(200):    # each form gets its file when it has filled its memory
            files, everything = descriptors(running.process)
            if files >= FORMS:
                break
            running.get("/sleep/20")
        print(f"{FORMS} forms of {LARGE + SMALL} parts: {files} files, {everything - before} descriptors")
        assert files == FORMS
        assert everything - before <= 3 * FORMS
        for upload in uploads:
            upload.sendall(end)
            reply = b""
            while b" parts" not in reply:
                piece = upload.recv(4096)
                assert piece, reply
                reply += piece
            assert b"%d parts" % (LARGE + SMALL) in reply, reply
            upload.close()
        assert descriptors(running.process)[0] == 0

# SPDX-License-Identifier: Apache-2.0
