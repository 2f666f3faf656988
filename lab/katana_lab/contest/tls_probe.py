"""A client for the TLS ports of servers: it shows their version, cipher, certificate and protocols."""
from __future__ import annotations

import contextlib
import dataclasses
import socket
import ssl
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

PATIENCE_S = 5.0
TLS13_CIPHERS = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
OLD_VERSIONS = {"TLS 1.0": ssl.TLSVersion.TLSv1, "TLS 1.1": ssl.TLSVersion.TLSv1_1}
# By OpenSSL's names; those that this machine's OpenSSL does not have are not asked.
WEAK_CIPHERS = ("eNULL", "aNULL", "EXPORT", "RC4", "DES", "3DES")


@dataclasses.dataclass(frozen=True)
class Agreed:
    """The result of a handshake; `why` says why there was none."""

    version: str = ""
    cipher: str = ""
    protocol: str | None = None
    certificate: bytes = b""
    why: str = ""


def context_of(protocols: Sequence[str] = (), ciphers: str = "") -> ssl.SSLContext:
    """A client that believes every certificate, and may be asked for what is forbidden today."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    if ciphers:
        context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    return context


def handshake(port: int, context: ssl.SSLContext, name: str | None = "localhost") -> Agreed:
    """One handshake. `name`: for SNI; None: without it."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link, \
                context.wrap_socket(link, server_hostname=name) as secure:
            cipher = secure.cipher()
            return Agreed(secure.version() or "", cipher[0] if cipher else "", secure.selected_alpn_protocol(),
                          secure.getpeercert(binary_form=True) or b"")
    except OSError as error:
        return Agreed(why=str(error) or type(error).__name__)


def certificate_of(file: Path) -> bytes:
    """The first certificate of a PEM file, as a handshake shows it."""
    text = file.read_text(encoding="ascii")
    end = "-----END CERTIFICATE-----"
    return ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN"):text.index(end) + len(end)])


def forbidden() -> Iterator[tuple[str, ssl.SSLContext]]:
    """Clients that no server may serve, by what they ask for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for what, version in OLD_VERSIONS.items():
            context = context_of(ciphers="ALL")
            context.minimum_version = context.maximum_version = version
            yield what, context
        for ciphers in WEAK_CIPHERS:
            with contextlib.suppress(ssl.SSLError):              # this machine's OpenSSL does not have them
                context = context_of(ciphers=ciphers)
                context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
                yield ciphers, context

# SPDX-License-Identifier: Apache-2.0
