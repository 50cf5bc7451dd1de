"""The people who send requests besides the owner: requests that may take away the sender's own rights are sent by them."""

import base64
import hmac
import struct
import time
from dataclasses import dataclass, field

from api import Refused, call, mail_to, numbers, settings

password = settings["callers"]["owner"]["password"]
full_name = "Grace Hopper"


@dataclass
class Person:
    email: str
    password: str = password
    # The session's access token, and when it was issued; None without a session.
    token: str | None = None
    issued_at: float | None = None
    account_id: str | None = None
    # The authenticator's secret, and the time step of the code that confirmed it.
    secret: str | None = None
    proven_in: int = 0
    recovery_codes: list = field(default_factory=list)
    # The token of the invitation to the owner's account.
    invitation: str | None = None
    # The id of another user in this person's account.
    heir: str | None = None
    # How many messages were read, and how many requests were refused.
    messages: int = 0
    refusals: int = 0

    def credentials(self):
        return {"email": self.email, "password": self.password}

    def log_in(self):
        return call("POST", "/v2/auth/login", self.credentials())

    def call(self, method, path, body=None):
        return call(method, path, body, self.token)

    def is_fresh(self):
        """Whether the token, if there is one, is valid for some more minutes of its quarter of an hour."""
        return self.issued_at is None or time.monotonic() - self.issued_at < 600

    def mailed(self, pattern):
        found = mail_to(self.email, self.messages, pattern)
        self.messages += 1
        return found

    def mailed_code(self):
        return self.mailed(r"^(\d{6})$")

    def mailed_token(self):
        return self.mailed(r"token=([\w.~-]+)")

    def begin(self, session):
        self.token = session["access_token"]
        self.issued_at = time.monotonic()
        self.account_id = session["account"]["id"]
        return self


class Owner(Person):
    """The owner of the estate, who makes what other requests need. The hooks delete nothing of the owner's that is needed."""

    def call(self, method, path, body=None):
        # An earlier session may have ended, because a generated request changed the owner's own rights.
        if self.token is not None:
            try:
                return call(method, path, body, self.token)
            except Refused as refused:
                if refused.status not in (401, 403):
                    raise
        return call(method, path, body, self.begin(self.log_in()).token)


owner = Owner(settings["callers"]["owner"]["email"])


def newcomer():
    """A person without a user."""
    return Person(f"person-{next(numbers)}@example.com")


def unverified():
    person = newcomer()
    call("POST", "/v2/auth/signup", person.credentials() | {"full_name": full_name})
    return person


def plain():
    """The owner of another account, signed in."""
    person = unverified()
    return person.begin(call("POST", "/v2/auth/verify-email", {"email": person.email, "code": person.mailed_code()}))


def requiring():
    """The owner of another account, which has required MFA since the sign-in."""
    person = plain()
    person.call("PATCH", f"/v2/accounts/{person.account_id}", {"require_mfa": True})
    return person


def enrolled():
    """The owner of another account, who has set up MFA."""
    person = plain()
    person.secret = person.call("POST", "/v2/mfa/setup")["secret"]
    person.proven_in = step_now()
    proof = {"code": totp(person.secret, person.proven_in)}
    person.recovery_codes = person.call("POST", "/v2/mfa/setup/verify", proof)["recovery_codes"]
    return person


def with_heir():
    """The owner of another account with a second user, who may become its owner."""
    person = plain()
    person.heir = new_user_of(person)
    return person


def invite(person, inviting):
    """Invites the person and returns the token of the mailed link."""
    inviting.call("POST", "/v2/invitations", {"email": person.email})
    return person.mailed_token()


def new_user_of(inviting):
    """Adds a new user to the account of `inviting` and returns the id."""
    person = newcomer()
    token = invite(person, inviting)
    accepted = {"token": token, "full_name": full_name, "password": password}
    return call("POST", "/v2/invitations/accept", accepted)["user"]["id"]


def step_now():
    return int(time.time()) // 30


def fresh_code(person):
    """An unused code: the code of each step is accepted once, and that of the next step is accepted early."""
    return totp(person.secret, max(person.proven_in + 1, step_now()))


def totp(secret, step):
    """RFC 6238 with SHA-1 and 6 digits."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), "sha1")
    start = digest[-1] & 15
    return f"{(int.from_bytes(digest[start : start + 4], 'big') & 0x7FFFFFFF) % 10**6:06}"


# People whose requests were refused: nothing of theirs has changed, so they can send further requests.
waiting = {}


def take_person(kind):
    """Returns a waiting person of this kind, or a new one."""
    those = waiting.setdefault(kind, [])
    while those:
        person = those.pop()
        if person.is_fresh():
            return person
    return kind()


def keep(kind, person):
    """Lets a person wait for further requests, but not indefinitely, because the platform counts wrong codes."""
    person.refusals += 1
    if person.refusals < 10:
        waiting[kind].append(person)
