"""What Schemathesis cannot know from the document: addresses, credentials, ids that exist, and rules said in words."""

import atexit
import glob
import itertools
import json
import os
import random
import re
import time
import urllib.request
from collections import Counter

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.generation.meta import CoverageScenario
from schemathesis.openapi.checks import RejectedPositiveData

platform = json.loads(os.environ["PLATFORM"])
as_owner = platform["as"] == "owner"
chance = random.Random(platform["seed"])

# Where each request seems to come from: the limits count by client address.
addresses = itertools.count(int(platform["addresses_from"]))


def from_somewhere():
    number = next(addresses)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def sent_from_somewhere(request):
    request.headers["X-Forwarded-For"] = from_somewhere()
    return request


def post(path, body):
    headers = {"content-type": "application/json", "x-forwarded-for": from_somewhere()}
    request = urllib.request.Request(platform["url"] + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


# Credentials. Logging out ends a session, and an access token outlives it: no operation is left out for that.
credentials = {"email": platform["email"], "password": platform["password"]}
refresh_tokens = []


def code_for(email, messages):
    """The code of the latest message, once there are so many."""
    name = re.sub(r"[^A-Za-z0-9@._+-]", "_", email)[:200]
    for _ in range(200):
        found = sorted(glob.glob(f"{platform['mail']}/*-{name}.eml"))
        if len(found) >= messages:
            with open(found[-1]) as message:
                return re.search(r"^\d{6}$", message.read(), re.MULTILINE)[0]
        time.sleep(0.01)
    raise TimeoutError(f"{email} got no code")


def newcomer():
    return {"email": f"person-{next(addresses)}@example.com", "password": credentials["password"]}


def signed_up():
    person = newcomer()
    post("/v2/auth/signup", person | {"full_name": "Grace Hopper"})
    return person["email"]


def that_works(operation):
    """What a request must say to be granted, where the document cannot know it; None where there is nothing to say."""
    if operation == "login":
        return credentials
    if operation == "refresh_session" and refresh_tokens:
        return {"refresh_token": refresh_tokens.pop()}
    if operation == "signup":
        return newcomer()
    if operation == "verify_email":
        email = signed_up()
        return {"email": email, "code": code_for(email, 1)}
    if operation == "reset_password":
        email = signed_up()
        post("/v2/auth/forgot-password", {"email": email})
        return {"email": email, "code": code_for(email, 2), "new_password": credentials["password"]}
    if operation == "create_location":
        return {"timezone": "Europe/Zurich"}
    return None


if as_owner:

    @schemathesis.auth(refresh_interval=300)
    class Owner:
        def get(self, case, context):
            session = json.loads(post("/v2/auth/login", credentials))
            refresh_tokens.append(session["refresh_token"])
            return session["access_token"]

        def set(self, case, data, context):
            case.headers["Authorization"] = f"Bearer {data}"


# Ids that exist, by prefix: what is made up exists nowhere.
an_id = re.compile(r"^(acc|grp|loc|cmp)_[0-9a-f-]{36}$")
living = {prefix: list(ids) for prefix, ids in platform["ids"].items()}
seen = {one for ids in living.values() for one in ids}


def living_for(value):
    """An id that nobody has ever seen becomes one that exists; deleted ones stay as they are."""
    if not isinstance(value, str) or not an_id.match(value) or value in seen:
        return value
    return chance.choice(living[value[:3]] or [value])


def living_in(value):
    if isinstance(value, dict):
        return {name: living_in(item) for name, item in value.items()}
    return [living_in(item) for item in value] if isinstance(value, list) else living_for(value)


@schemathesis.hook
def before_call(context, case, kwargs):
    kwargs["auth"] = sent_from_somewhere
    if not as_owner:
        return
    operation = operation_of(case)

    def coin():
        """Until one has been granted, every request asks for what can be; from then on, each part of half of them."""
        return operation not in granted or chance.random() < 0.5

    path = living_in(case.path_parameters or {})
    if path != case.path_parameters and coin():
        case.path_parameters = path
    if isinstance(case.body, dict) and is_positive(case):
        body = living_in(case.body) if coin() else case.body
        case.body = body | ((coin() and that_works(operation)) or {})


def operation_of(case):
    return case.operation.definition.raw["operationId"]


def is_positive(case):
    return case.meta is None or case.meta.generation.mode.is_positive


answers = Counter()
granted = set()


@schemathesis.hook
def after_call(context, case, response):
    operation = operation_of(case)
    answers[f"{operation} {response.status_code}"] += 1
    if 200 <= response.status_code < 300:
        granted.add(operation)
    if response.request.method == "DELETE" and response.status_code == 204:
        gone = case.path_parameters["id"]
        if gone in living.get(gone[:3], []):
            living[gone[:3]].remove(gone)
    elif response.status_code == 201:
        made = json.loads(response.content)["id"]
        seen.add(made)
        living[made[:3]].append(made)


@atexit.register
def report_answers():
    with open(platform["answers_file"], "w") as file:
        json.dump(answers, file)


# What an answer of 400 to a request that fits the schemas may say: rules that the document gives in words, as they
# relate several fields, need a table, or hold for what the platform itself handed out.
rules_in_words = re.compile(
    "|".join(
        [
            # The introduction, "Bodies".
            "contains a NUL character",
            "contains half of a surrogate pair",
            "has a member named __proto__",
            "is nested deeper than",
            # The same in a query.
            "contains characters that are not text",
            # Names: one line, trimmed.
            "must be one line, without control characters",
            r"\.(name|full_name): must not be empty",
            # Passwords are measured in their normal form, and not a common one.
            r"password: must have at (least|most) \d+ characters",
            "is one of the most common passwords",
            "must be an IANA time zone name",
            "is not a next_cursor of this list",
            "body.code: is not the code of the latest e-mail",
            "is (before start_date|after end_date)",
            "must close after it opens",
        ]
    )
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, RejectedPositiveData) and response.status_code == 400:
        return not rules_in_words.search(json.loads(response.content)["detail"])
    return True


@schemathesis.check
def unknown_method_is_not_found(ctx, response, case):
    """The contract has no 405: a method that a path does not have is 404, as an unknown path is."""
    data = case.meta and case.meta.phase.data
    if getattr(data, "scenario", None) != CoverageScenario.UNSPECIFIED_HTTP_METHOD:
        return None
    if response.request.method == "OPTIONS":
        return None
    assert response.status_code == 404, f"{response.request.method} answered {response.status_code}, not 404"
    assert json.loads(response.content)["type"].endswith("/not-found")
    return None
