"""A server that fetches what its arguments name, with guards of addresses that let something through.

    python3 egress.py [fixed]

fetch_page looks for private addresses in the text of a host, fetch_text takes every host that is no address for a public one,
fetch_feed resolves the host and connects to what another look-up says, fetch_image does not look where it is redirected, and
fetch_release looks for its host at the end of another. With "fixed" the guards hold. It needs no package.
"""

import http.client
import ipaddress
import socket
import sys
import urllib.request
from typing import Any
from urllib.parse import urljoin, urlsplit

from stdio import serve

FIXED = sys.argv[1:] == ["fixed"]
RELEASES = "releases.example.com"


def public(address: str) -> bool:
    return ipaddress.ip_address(address).is_global


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=3) as answer:
        return answer.read(2000).decode(errors="replace")


class Straight(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def fetch_straight(url: str) -> str:
    return urllib.request.build_opener(Straight).open(url, timeout=3).read(2000).decode(errors="replace")


def fetch_public(url: str) -> str:
    """Fetches from the very address that was looked at, also behind a redirect."""
    for _ in range(3):
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("only http and https are allowed")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        address = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)[0][4][0]
        if not public(address):
            raise ValueError("private addresses are not allowed")
        connection = http.client.HTTPConnection(parts.hostname, port, timeout=3)
        connection.sock = socket.create_connection((address, port), 3)
        if parts.scheme == "https":
            import ssl
            connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=parts.hostname)
        connection.request("GET", parts.path or "/")
        answer = connection.getresponse()
        if answer.status not in (301, 302, 307, 308):
            return answer.read(2000).decode(errors="replace")
        url = urljoin(url, answer.headers["Location"])
    raise ValueError("too many redirects")


def fetch_page(url: str) -> str:
    if FIXED:
        return fetch_public(url)
    host = urlsplit(url).netloc.split(":")[0].lower()
    if host in ("localhost", "169.254.169.254") or host.startswith(("127.", "10.", "192.168.", "172.16.")):
        raise ValueError("private addresses are not allowed")
    return fetch(url)


def fetch_text(url: str) -> str:
    if FIXED:
        return fetch_public(url)
    try:
        forbidden = not public(urlsplit(url).hostname or "")
    except ValueError:
        forbidden = urlsplit(url).scheme not in ("http", "https")
    if forbidden:
        raise ValueError("access to this address is forbidden")
    return fetch_straight(url)


def fetch_feed(url: str) -> str:
    if FIXED:
        return fetch_public(url)
    if not public(socket.gethostbyname(urlsplit(url).hostname or "")):
        raise ValueError("the host is in a private network")
    return fetch_straight(url)


def fetch_image(url: str) -> str:
    if FIXED:
        return fetch_public(url)
    for found in socket.getaddrinfo(urlsplit(url).hostname, None):
        if not public(found[4][0]):
            raise ValueError("the host is in a private network")
    return fetch(url)


def fetch_release(url: str) -> str:
    host = urlsplit(url).hostname or ""
    if FIXED and host != RELEASES or not host.endswith(RELEASES):
        raise ValueError(f"the host is not allowed: try https://{RELEASES}/notes")
    return fetch_straight(url)


URL = {"url": {"type": "string"}}
serve("egress", {
    fetch_page: ("Fetches a web page.", URL),
    fetch_text: ("Fetches the text of a web page from public addresses only.", URL),
    fetch_feed: ("Fetches a feed from the web.", URL),
    fetch_image: ("Fetches an image from the web.", URL),
    fetch_release: (f"Fetches the notes of a release, such as `https://{RELEASES}/notes`.", URL),
})
