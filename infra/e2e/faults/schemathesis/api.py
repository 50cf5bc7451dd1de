"""The hooks' own requests to the platform, each from a new client address, and the mail that it sends."""

import glob
import itertools
import json
import os
import quopri
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request

settings = json.loads(os.environ["PLATFORM"])
chance = random.Random(settings["seed"])

# Every request gets a new client address, because rate limits count by address.
numbers = itertools.count(int(settings["addresses_from"]))


def from_somewhere():
    number = next(numbers)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


class Refused(RuntimeError):
    """A response other than a success."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def call(method, path, body=None, token=None, more=None):
    """Returns the body of a successful response. Raises otherwise: that is a bug of these hooks or of the platform."""
    headers = {"content-type": "application/json", "x-forwarded-for": from_somewhere()} | (more or {})
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(settings["url"] + path, content, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        raise Refused(f"{method} {path} answered {error.code}: {error.read().decode()}", error.code) from error


def put(url, content):
    """Sends the bytes of a file to a signed URL."""
    request = urllib.request.Request(url, content, {"x-forwarded-for": from_somewhere()}, method="PUT")
    with urllib.request.urlopen(request) as answer:
        answer.read()


def click(page, action):
    """Submits the form of a page of the payment provider."""
    form = urllib.parse.urlencode({"action": action}).encode()
    with urllib.request.urlopen(f"{settings['pages']}/{page}", form) as answer:
        answer.read()


def mail_to(email, seen, pattern):
    """Returns the pattern's group from the latest message to the address, ignoring the first `seen` messages."""
    name = re.sub(r"[^A-Za-z0-9@._+-]", "_", email)[:200]
    for _ in range(500):
        for file in reversed(sorted(glob.glob(f"{settings['mail']}/*-{name}.eml"))[seen:]):
            with open(file, "rb") as message:
                found = re.search(pattern, quopri.decodestring(message.read()).decode(), re.MULTILINE)
            if found:
                return found[1]
        time.sleep(0.01)
    raise TimeoutError(f"{email} got no message with {pattern}")
