"""What Schemathesis cannot know from the document: addresses, credentials, ids that exist, and rules said in words."""

import atexit
import json
import re
from collections import Counter

import schemathesis
from schemathesis.generation.meta import CoverageScenario
from schemathesis.openapi.checks import RejectedPositiveData

import files
from asking import chance, from_somewhere, numbers, settings
from living import gone, is_id, living_in, made
from people import keep, owner
from wishes import wishes

as_owner = settings["as"] == "owner"


# What the owner's requests carry.
signatures = set()

if as_owner:

    @schemathesis.auth(refresh_interval=300)
    class Owner:
        def get(self, case, context):
            return owner.log_in()["access_token"]

        def set(self, case, data, context):
            signature = f"Bearer {data}"
            signatures.add(signature)
            case.headers["Authorization"] = signature


answers = Counter()
granted = set()

# Who sent a case, where it is not the owner, until it is answered.
senders = {}


@schemathesis.hook
def before_call(context, case, kwargs):
    trim(case.headers)
    # Put on the request itself: a case whose headers are changed here counts as one that breaks their schemas.
    headers = {}
    kwargs["auth"] = lambda request: sent_with(headers, request)
    if not as_owner:
        return
    operation = operation_of(case)

    def coin():
        """Until one has been granted, every request asks for what can be; from then on, each part of half of them."""
        return operation not in granted or chance.random() < 0.5

    if coin():
        put_path(case, living_in(case.path_parameters or {}))
    if has_fields(case) and coin():
        case.body = living_in(case.body)
    # One that was used with another body is refused.
    if "Idempotency-Key" in case.headers and is_positive(case) and coin():
        headers["Idempotency-Key"] = f"request-{next(numbers)}"
    if operation in wishes:
        headers |= make_wish(case, wishes[operation], coin)


def make_wish(case, wish, coin):
    """The headers that the wish puts in place of those of the case."""
    sender = wish.sender()
    headers = {}
    if sender:
        senders[case.id] = sender
        headers |= signature_of(sender.person, case)
    in_path, elsewhere = coin(), coin()
    if not in_path and not elsewhere:
        return headers
    said = wish.said_by(sender)
    if in_path:
        put_path(case, {name: said.path.get(name, value) for name, value in (case.path_parameters or {}).items()})
    if elsewhere and has_fields(case):
        case.body = said.into(case.body)
    if elsewhere and is_positive(case):
        headers |= said.headers
    return headers


def put_path(case, parameters):
    """In place of ids alone: what is no id is so on purpose. Ids of others' making have no form that says so."""
    there = case.path_parameters or {}

    def replaces(value, other):
        return is_id(value) or (is_positive(case) and not is_id(other))

    meant = {name: parameters[name] if replaces(value, parameters[name]) else value for name, value in there.items()}
    if meant != there:
        case.path_parameters = meant


def signature_of(person, case):
    """In place of the owner's; a case about a token that is missing or wrong stays as it is."""
    if case.headers.get("Authorization") not in signatures:
        return {}
    return {"Authorization": f"Bearer {person.token}" if person.token else None}


def trim(headers):
    """Spaces around the value of a header are no part of it (RFC 9110, 5.5): what is judged is what arrives."""
    for name, value in list(headers.items()):
        if isinstance(value, str) and value != value.strip(" \t"):
            headers[name] = value.strip(" \t")


def sent_with(headers, request):
    for name, value in ({"X-Forwarded-For": from_somewhere()} | headers).items():
        request.headers[name] = value
        if value is None:
            del request.headers[name]
    return request


def operation_of(case):
    return case.operation.definition.raw["operationId"]


def is_positive(case):
    return case.meta is None or case.meta.generation.mode.is_positive


def has_fields(case):
    return isinstance(case.body, dict) and is_positive(case)


@schemathesis.hook
def after_call(context, case, response):
    operation = operation_of(case)
    answers[f"{operation} {response.status_code}"] += 1
    if 200 <= response.status_code < 300:
        granted.add(operation)
    sender = senders.pop(case.id, None)
    if sender and 400 <= response.status_code < 500:
        keep(sender.kind, sender.person)
    if response.request.method == "DELETE" and response.status_code == 204:
        gone(case.path_parameters["id"])
    elif response.status_code == 201 or (operation == "import_estate" and response.status_code == 202):
        one = json.loads(response.content)["id"]
        if is_id(one):
            made(one)
        # A key that was rotated is replaced by the new one.
        if operation == "rotate_api_key":
            gone(case.path_parameters["id"])


@atexit.register
def report_answers():
    with open(settings["answers_file"], "w") as file:
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
            r"\.(name|full_name|external_id|output): must not be empty",
            # Passwords are measured in their normal form, and not a common one.
            r"password: must have at (least|most) \d+ characters",
            "is one of the most common passwords",
            "must be an IANA time zone name",
            "is not a next_cursor of this list",
            "body.code: is not the code (of the latest e-mail|that the authenticator shows)",
            "body.code: is wrong, or was used before",
            "body.current_password: is not your password",
            # A newcomer is known by the token of the invitation.
            "is required of a newcomer",
            # What is given to users and keys.
            "groups: must (not )?be empty when group_scope is",
            "groups: must not name a group twice",
            "must be (all|true) for an owner or admin",
            # How long API keys live.
            "must be (more than 0 and )?at most 90d",
            "give it or expires_in, not both",
            "is not in the future",
            "is more than 90 days after",
            "is (before start_date|after end_date)",
            # Of the estate: times that fit each other, sizes, places, what is named once, tags as they are normalized.
            r"body\.opening_hours\.\w+\[\d\]\.(opens|closes): must (differ from|be later than|be after|not overlap)",
            r"body\.orientation: must be \w+ for \d+ x \d+",
            r"body\.(latitude|longitude): must be given with",
            r"body\.outputs: must name each (output|screen) once",
            "must not look like an id of the platform",
            r"(body|query)\.tags\[\d+\]: must (not be empty|have (letters, digits and|at most 50 characters))",
            # Which of the prices is for what.
            "is a (plan|token pack), whose mode is",
            "is not a plan",
        ]
    )
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, RejectedPositiveData) and response.status_code == 400:
        detail = json.loads(response.content)["detail"]
        return not rules_in_words.search(detail) and not (files.takes_file(case) and files.fault_of_a_file.match(detail))
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
