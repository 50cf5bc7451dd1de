"""What Schemathesis cannot know from the document: addresses, credentials, existing ids, and rules given in prose."""

import atexit
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

import hypothesis
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine.run.stateful import _executor as sequences
from schemathesis.generation.meta import CoverageScenario
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

import files
from api import Refused, chance, from_somewhere, numbers, settings
from callers import is_known, new_token
from ids import remove_id, is_id, with_existing_ids, add_id
from people import keep
from overrides import overrides

# Schemathesis has Hypothesis aim at requests that succeed, which then varies the numbers in one that did, over and over. The
# overrides make requests succeed, so all examples are independent ones. There is no setting for it.
hypothesis.target = lambda *observation, **label: None

# Hypothesis repeats sequences of requests, and gives up when an answer differs, as it does here when something was created
# the first time. Schemathesis begins anew then, and would without end: once all examples have run, that is enough.
classify = sequences._classify_suite_error


def classify_with_limit(error, *, ctx, settings, **others):
    status, begins_anew, events = classify(error, ctx=ctx, settings=settings, **others)
    return status, begins_anew and ctx.completed_scenarios < settings.max_examples, events


sequences._classify_suite_error = classify_with_limit

# The Authorization headers that the caller's requests have had.
signatures = set()

if is_known:

    @schemathesis.auth(refresh_interval=300)
    class Caller:
        def get(self, case, context):
            return new_token()

        def set(self, case, data, context):
            signature = f"Bearer {data}"
            signatures.add(signature)
            case.headers["Authorization"] = signature
            forget_former_signature(case)


def forget_former_signature(case):
    """Schemathesis remembers what it made wrong, and does not see that a signature has replaced it. What else is wrong counts."""
    meta = case._meta  # case.meta would judge the case, which is not complete yet.
    others = tuple(one for one in meta.phase.data.mutations if one.parameter != "Authorization") if meta else ()
    if others:
        meta.phase.data.mutations = others


answers = Counter()
granted = set()
refused = Counter()

# The sender of each case in progress, if it is not the caller.
senders = {}

# A run takes most of an hour, and Schemathesis writes its output at the end of it.
progress_interval = 60
progress_due = time.monotonic() + progress_interval


@schemathesis.hook
def before_call(context, case, kwargs):
    trim(case.headers)
    # These are set on the request, because changing those of the case would make it count as invalid.
    headers = {}
    nulls = not is_positive(case)
    kwargs["auth"] = lambda request: sent_with(headers, request if nulls else without_nulls(request))
    if not is_known:
        return
    operation = operation_of(case)

    def coin():
        """
        Always true until the operation has succeeded once, then true for half of the replacements. Seldom true if the
        caller was only ever refused, because what is replaced may take several requests.
        """
        if operation in granted:
            return chance.random() < 0.5
        return refused[operation] < 5 or chance.random() < 0.1

    # Schemathesis takes ids from responses as well, and an admin may leave the account.
    if coin() or (case.path_parameters or {}).get("id") == settings["own"]:
        put_path(case, with_existing_ids(case.path_parameters or {}))
    if has_fields(case) and coin():
        case.body = with_existing_ids(case.body)
    # A generated key may have been used with another body before, which is refused.
    if "Idempotency-Key" in case.headers and is_positive(case) and coin():
        headers["Idempotency-Key"] = f"request-{next(numbers)}"
    if operation in overrides:
        headers |= apply_override(case, overrides[operation], coin)


def apply_override(case, rule, coin):
    """Overrides parts of the case, and returns the headers that override those of its request."""
    sender = rule.sender()
    headers = {}
    if sender:
        senders[case.id] = sender
        headers |= signature_of(sender.person, case)
    # Values that no part of the case takes are not built, because each may need several requests.
    in_path, elsewhere = coin() and bool(case.path_parameters), coin() and is_positive(case)
    if not in_path and not elsewhere:
        return headers
    try:
        override = rule.override_by(sender)
    except Refused as fault:
        # The account is full, its mail of the day is sent, or too many codes or passwords were wrong: the generated values stay.
        if fault.status not in (409, 422) and not shared_budgets.search(str(fault)):
            raise
        return headers
    if in_path:
        put_path(case, {name: override.path.get(name, value) for name, value in (case.path_parameters or {}).items()})
    if elsewhere and has_fields(case):
        case.body = override.into(case.body)
    if elsewhere:
        headers |= override.headers
    return headers


def put_path(case, parameters):
    """Replaces ids only, because other values are invalid on purpose. Ids of the payment provider have no fixed form."""
    there = case.path_parameters or {}

    def replaces(value, other):
        return is_id(value) or (is_positive(case) and not is_id(other))

    meant = {name: parameters[name] if replaces(value, parameters[name]) else value for name, value in there.items()}
    if meant != there:
        case.path_parameters = meant


def signature_of(person, case):
    """The header that replaces the caller's. A case with a missing or wrong token stays as it is."""
    if case.headers.get("Authorization") not in signatures:
        return {}
    return {"Authorization": f"Bearer {person.token}" if person.token else None}


def trim(headers):
    """Removes spaces around header values, which are not part of them (RFC 9110, 5.5), before the case is judged."""
    for name, value in list(headers.items()):
        if isinstance(value, str) and value != value.strip(" \t"):
            headers[name] = value.strip(" \t")


def sent_with(headers, request):
    for name, value in ({"X-Forwarded-For": from_somewhere()} | headers).items():
        request.headers[name] = value
        if value is None:
            del request.headers[name]
    return request


def without_nulls(request):
    """Queries take values from answers, for example the location of a device, which may have none: no query says null."""
    path, _, query = request.url.partition("?")
    meant = "&".join(pair for pair in query.split("&") if not pair.endswith("=None"))
    request.url = f"{path}?{meant}" if meant else path
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
    show_progress(operation)
    if 200 <= response.status_code < 300:
        granted.add(operation)
    sender = senders.pop(case.id, None)
    # Whoever stands in for the caller may be refused for want of a proof, and let in the next time.
    refused[operation] += sender is None and response.status_code == 403
    if sender and 400 <= response.status_code < 500:
        keep(sender.kind, sender.person)
    if response.request.method == "DELETE" and response.status_code == 204 and case.operation.path.endswith("/{id}"):
        remove_id(case.path_parameters["id"])
    elif response.status_code == 201 or (operation == "import_estate" and response.status_code == 202):
        one = json.loads(response.content)["id"]
        if is_id(one):
            add_id(one)
        # A rotated key cannot be rotated again.
        if operation == "rotate_api_key":
            remove_id(case.path_parameters["id"])


def show_progress(operation):
    """Writes a line for command.ts to stderr, once a minute."""
    global progress_due
    if time.monotonic() < progress_due:
        return
    progress_due = time.monotonic() + progress_interval
    print(f"progress: {sum(answers.values()):,} requests, now {operation}", file=sys.stderr, flush=True)


@atexit.register
def report_answers():
    with open(settings["answers_file"], "w") as file:
        json.dump(answers, file)


# The details that a 400 to a request that fits the schemas may have: rules that the document gives in prose, because they
# relate several fields, need a table, or concern values that the platform issued.
rules_in_words = re.compile(
    "|".join(
        [
            # The introduction, "Bodies".
            "contains a NUL character",
            "contains half of a surrogate pair",
            "has a member named __proto__",
            "cannot be changed here",
            "is nested deeper than",
            # The same rules for a query.
            "contains characters that are not text",
            # Names: one line, trimmed.
            "must be one line, without control characters",
            r"\.(name|full_name|external_id|output): must not be empty",
            # Passwords: their normal form is measured, and must not be a common password.
            r"password: must have at (least|most) \d+ characters",
            "is one of the most common passwords",
            r"password: is (one character over and over|your e-mail address|the name of this platform)",
            # Names that are put into mail.
            "must hold no web address",
            # The pages that a checkout may lead back to are a setting.
            "body.return_url: must begin with",
            "must be an IANA time zone name",
            "is not a next_cursor of this list",
            "body.code: is not the code (of the latest e-mail|that the authenticator shows)",
            "body.code: is wrong, or was used before",
            "body.current_password: is not your password",
            # Whether the invited person has a user follows from the invitation's token.
            "is required of a newcomer",
            # Grants to users and keys.
            "groups: must (not )?be empty when group_scope is",
            "groups: must not name a group twice",
            "must be (all|true) for an owner or admin",
            # The expiry of API keys.
            "must be (more than 0 and )?at most 90d",
            "give it or expires_in, not both",
            "is not in the future",
            "is more than 90 days after",
            "is (before start_date|after end_date)",
            # The estate: consistent times, sizes, coordinates, unique names, normalized tags.
            r"body\.opening_hours\.\w+\[\d\]\.(opens|closes): must (differ from|be later than|be after|not overlap)",
            r"body\.orientation: must be \w+ for \d+ x \d+",
            r"body\.(latitude|longitude): must be given with",
            r"body\.outputs: must name each (output|screen) once",
            "must not look like an id of the platform",
            r"(body|query)\.tags\[\d+\]: must (not be empty|have (letters, digits and|at most 50 characters))",
            # Utilities: a place has a name, fields that belong together, and times that are looked up.
            r"query\.query: must not be empty",
            r"query\.\w+: must (not )?be given",
            "query.at: must be from 90 days ago to 7 days ahead",
            "must be decimal degrees, with at most 8 places",
            "query.resolution: these would be more than 10,000 cells",
            # Without coordinates nothing says the time zone.
            "body.timezone: is required",
            # Figures: ranges, windows and series.
            "query.to: must not be before from",
            "query.window: must be a duration from",
            r"query\.interval: (hour needs both from and to|the range has more than \d+ buckets)",
            r"query\.to: .* is after \d+ days",
            # Media, ads, targets.
            r"must end like a file of|must be at most \d+ for",
            "must name each (day|interest|value) once",
            r"(screen_tag|tags\[\d+\]|interests\[\d+\]): must (not be empty|have (letters, digits and|at most))",
            "must have an age_from that is not above age_to|must have a from and a to that differ",
            "must be an http or https URL|must have no / or",
            # Events: ranges in order, and of so many days at most.
            "query.to: must not be before from",
            "body.until: must be later than from",
            r"query: this would be \d+ cohorts",
            # The mode in which a price can be bought.
            "is a (plan|token pack), whose mode is",
            "is not a plan",
        ]
    )
)


# Budgets that all examples have in common: those of an e-mail address, and of the account's wrong claim codes.
shared_budgets = re.compile(
    "Too many codes were sent to this address|Too many wrong passwords or codes for this address|Too many codes were wrong"
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, RejectedPositiveData) and response.status_code == 429:
        return not shared_budgets.search(json.loads(response.content)["detail"])
    if isinstance(failure, RejectedPositiveData) and response.status_code == 400:
        detail = json.loads(response.content)["detail"]
        return not rules_in_words.search(detail) and not (files.takes_file(case) and files.fault_of_a_file.match(detail))
    if isinstance(failure, AcceptedNegativeData):
        return not is_right_as_sent(case, response) and not has_long_normal_form(failure, case)
    # An asset has no analysis before its file is processed.
    if isinstance(failure, EnsureResourceAvailability):
        return operation_of(case) != "get_media_analysis"
    return True


def is_right_as_sent(case, response):
    """
    Whether all that was made wrong is in the query, which is right as it is sent: a comma makes two items of one, one value
    is a list of one, and an empty object is not sent.
    """
    mutations = getattr(case.meta.phase.data, "mutations", ())
    # A wrong Authorization header does not count: a valid token has replaced it.
    if {one.parameter_location for one in mutations if one.parameter != "Authorization"} != {ParameterLocation.QUERY}:
        return False
    declared = case.operation.query.schema["properties"]
    sent = parse_qsl(urlsplit(response.request.url).query, keep_blank_values=True)
    query = {name: value_of(text, declared[name]["type"]) for name, text in sent if name in declared}
    return len(query) == len(sent) and case.operation.query.get_strict_validator().is_valid(query)


# Spaces, exponents and other signs are not for this rule to excuse.
literal = re.compile(r"true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def value_of(text, kind):
    """The value that a parameter of a query stands for."""
    if kind == "array":
        return text.split(",")
    return json.loads(text) if kind != "string" and literal.fullmatch(text) else text


def has_long_normal_form(failure, case):
    """Whether all that is wrong is a new password that is too short as it is written: its normal form is counted."""
    # A wrong Authorization header does not count: a valid token has replaced it.
    wrong = re.sub(r"\s*- header: violates `\w+` at /properties/Authorization", "", failure.message)
    place = r"Invalid component:\s+(?:in body -|- body:) violates `minLength` at /properties/((?:new_)?password) "
    found = re.search(place, wrong)
    return found is not None and len(unicodedata.normalize("NFKC", case.body[found[1]])) >= 8


@schemathesis.check
def unknown_method_is_not_found(ctx, response, case):
    """The contract has no 405: an unsupported method is 404, as an unknown path is."""
    data = case.meta and case.meta.phase.data
    if getattr(data, "scenario", None) != CoverageScenario.UNSPECIFIED_HTTP_METHOD:
        return None
    if response.request.method == "OPTIONS":
        return None
    assert response.status_code == 404, f"{response.request.method} answered {response.status_code}, not 404"
    assert json.loads(response.content)["type"].endswith("/not-found")
    return None
