"""The people who send requests, beside the owner: those who may lose what the request changes."""

import base64
import hmac
import struct
import time
from dataclasses import dataclass, field

from asking import ask, mail_to, numbers, settings

password = settings["password"]
full_name = "Grace Hopper"


@dataclass
class Person:
    email: str
    password: str = password
    # Of the session; None: this person has none.
    token: str | None = None
    account_id: str | None = None
    # Of the authenticator, and the time step that it was proven in.
    secret: str | None = None
    proven_in: int = 0
    recovery_codes: list = field(default_factory=list)
    # The link that invites this person to the owner's account.
    invitation: str | None = None
    # Somebody else in this person's account.
    heir: str | None = None
    # That were read, and that were answered.
    messages: int = 0
    refusals: int = 0

    def credentials(self):
        return {"email": self.email, "password": self.password}

    def log_in(self):
        return ask("POST", "/v2/auth/login", self.credentials())

    def call(self, method, path, body=None):
        return ask(method, path, body, self.token)

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
        self.account_id = session["account"]["id"]
        return self


class Owner(Person):
    """The one whose token all other requests carry. Nothing that these hooks do ends what it owns."""

    def call(self, method, path, body=None):
        # A change of the owner's own rights, in some case, has ended the sessions before.
        return ask(method, path, body, self.begin(self.log_in()).token)


owner = Owner(settings["email"])


def newcomer():
    """Somebody whom the platform does not know."""
    return Person(f"person-{next(numbers)}@example.com")


def unverified():
    person = newcomer()
    ask("POST", "/v2/auth/signup", person.credentials() | {"full_name": full_name})
    return person


def plain():
    """The owner of another account, signed in."""
    person = unverified()
    return person.begin(ask("POST", "/v2/auth/verify-email", {"email": person.email, "code": person.mailed_code()}))


def requiring():
    """The same, of an account that requires MFA by now."""
    person = plain()
    person.call("PATCH", f"/v2/accounts/{person.account_id}", {"require_mfa": True})
    return person


def enrolled():
    """The same, of somebody who has MFA."""
    person = plain()
    person.secret = person.call("POST", "/v2/mfa/setup")["secret"]
    person.proven_in = step_now()
    proof = {"code": totp(person.secret, person.proven_in)}
    person.recovery_codes = person.call("POST", "/v2/mfa/setup/verify", proof)["recovery_codes"]
    return person


def with_heir():
    """The same, of an account with another user, who may become its owner."""
    person = plain()
    person.heir = new_user_of(person)
    return person


def invite(person, inviting):
    """The token of the link that the person gets."""
    inviting.call("POST", "/v2/invitations", {"email": person.email})
    return person.mailed_token()


def new_user_of(inviting):
    """The id of a new user of that account."""
    person = newcomer()
    token = invite(person, inviting)
    accepted = {"token": token, "full_name": full_name, "password": password}
    return ask("POST", "/v2/invitations/accept", accepted)["user"]["id"]


def step_now():
    return int(time.time()) // 30


def fresh_code(person):
    """A code that was not used before: each step's is accepted once, and the next step's is accepted early."""
    return totp(person.secret, max(person.proven_in + 1, step_now()))


def totp(secret, step):
    """RFC 6238 with SHA-1 and 6 digits."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), "sha1")
    start = digest[-1] & 15
    return f"{(int.from_bytes(digest[start : start + 4], 'big') & 0x7FFFFFFF) % 10**6:06}"


# Those who were refused: nothing of theirs has changed, and they may ask again.
waiting = {}


def somebody(kind):
    """One of those who wait, or somebody new."""
    those = waiting.setdefault(kind, [])
    return those.pop() if those else kind()


def keep(kind, person):
    """Not for ever: wrong codes are counted."""
    person.refusals += 1
    if person.refusals < 10:
        waiting[kind].append(person)
