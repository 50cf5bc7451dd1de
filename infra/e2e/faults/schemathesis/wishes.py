"""What a request must say to be granted, where the document cannot know it."""

import uuid
from dataclasses import dataclass, field
from functools import cache

from asking import ask, chance, click
from living import living, made
from people import (
    Person,
    enrolled,
    fresh_code,
    full_name,
    invite,
    new_user_of,
    newcomer,
    owner,
    password,
    plain,
    requiring,
    somebody,
    step_now,
    totp,
    unverified,
    with_heir,
)

# In a body: a field that the request does not name.
left_out = object()


@dataclass
class Said:
    """What is put in place of what was made up."""

    path: dict = field(default_factory=dict)
    body: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)

    def into(self, body):
        return {name: value for name, value in (body | self.body).items() if value is not left_out}


@dataclass
class Sender:
    kind: object
    person: Person


class Wish:
    def __init__(self, kinds, say):
        self.kinds = kinds
        self.say = say

    def sender(self):
        """Who sends the request; None: the owner."""
        if not self.kinds:
            return None
        kind = chance.choice(self.kinds)
        return Sender(kind, somebody(kind))

    def said_by(self, sender):
        return self.say(sender.person) if sender else self.say()


wishes = {}


def wish(*kinds):
    """
    Of the operation that the function is called like. Where there are kinds, each of its requests, whatever it says, is
    sent by a person of one of them: it may change who may do what, and the owner must not lose anything.
    """

    def note(say):
        wishes[say.__name__] = Wish(kinds, say)
        return say

    return note


# Without a token.


@wish()
def signup():
    return Said(body=newcomer().credentials())


@wish()
def verify_email():
    person = unverified()
    return Said(body={"email": person.email, "code": person.mailed_code()})


@wish()
def login():
    """Mostly a session is answered; somebody who has MFA, or must have it, is answered otherwise."""
    kind = chance.choice([None, None, requiring, enrolled])
    return Said(body=(one_of(kind) if kind else owner).credentials())


@cache
def one_of(kind):
    return kind()


@wish()
def refresh_session():
    return Said(body={"refresh_token": owner.log_in()["refresh_token"]})


@wish()
def reset_password():
    person = unverified()
    person.mailed_code()
    ask("POST", "/v2/auth/forgot-password", {"email": person.email})
    return Said(body={"email": person.email, "code": person.mailed_code(), "new_password": password})


@wish()
def exchange_api_key():
    key = new_key()
    return Said(headers={"x-access-key-id": key["access_key_id"], "x-access-key-secret": key["access_key_secret"]})


@wish(plain, newcomer)
def accept_invitation(person):
    person.invitation = person.invitation or invite(person, owner)
    return Said(body={"token": person.invitation, "full_name": full_name, "password": password})


# What ends or narrows what its sender may do.


@wish(plain)
def logout(person):
    return Said()


@wish(plain)
def end_session(person):
    [session] = person.call("GET", "/v2/users/me/sessions")["entries"]
    return Said(path={"id": session["id"]})


@wish(plain)
def change_password(person):
    return Said(body={"current_password": person.password, "new_password": "a short swim at noon"})


@wish(plain)
def close_account(person):
    return Said(path={"id": person.account_id})


@wish(plain)
def update_account(person):
    return Said(path={"id": person.account_id})


@wish(with_heir)
def transfer_ownership(person):
    return Said(path={"id": person.account_id}, body={"user_id": person.heir})


@wish(plain, requiring)
def switch_account(person):
    return Said(body={"account_id": person.account_id})


# MFA. A setup_token, where one is given, says who it is in place of the session.


@wish(plain, requiring)
def set_up_mfa(person):
    return Said(body={"setup_token": person.log_in().get("setup_token", left_out)})


@wish(plain, requiring)
def verify_mfa_setup(person):
    setup_token = person.log_in().get("setup_token")
    secret = person.call("POST", "/v2/mfa/setup", {"setup_token": setup_token} if setup_token else None)["secret"]
    return Said(body={"code": totp(secret, step_now()), "setup_token": setup_token or left_out})


@wish(enrolled)
def verify_mfa_challenge(person):
    return Said(body={"challenge_token": person.log_in()["challenge_token"], "code": any_code(person)})


@wish(enrolled)
def renew_recovery_codes(person):
    return Said(body={"code": any_code(person)})


@wish(enrolled)
def disable_mfa(person):
    return Said(body={"code": any_code(person)})


def any_code(person):
    return chance.choice([fresh_code(person), *person.recovery_codes])


# By the owner, who loses nothing by it.


@wish()
def create_location():
    return Said(body={"timezone": "Europe/Zurich"} | somewhere)


@wish()
def update_location():
    return Said(body={"timezone": "Europe/Zurich"} | somewhere)


@wish()
def create_screen():
    return Said(body={"orientation": left_out})


@wish()
def update_screen():
    return Said(body={"orientation": left_out, "zone_id": left_out})


@wish()
def create_installation():
    location = chance.choice(living["loc"])
    screen = new_place("screen", {"zone_id": new_place("zone", {"location_id": location})})
    outputs = [{"output": "HDMI-1", "screen_id": screen}]
    return Said(body={"location_id": location, "device_id": new_device(), "outputs": outputs})


@wish()
def update_installation():
    return Said(body={"outputs": []})


# What has something in it, or hangs on something, is not deleted.


@wish()
def delete_location():
    return Said(path={"id": new_place("location")})


@wish()
def delete_zone():
    return Said(path={"id": new_place("zone")})


@wish()
def delete_screen():
    return Said(path={"id": new_place("screen")})


@wish()
def create_invitation():
    return Said(body={"email": newcomer().email} | chance.choice([every_group, member_of_one])())


@wish()
def update_user():
    """Not of the owner, whose role and services are no matter of this operation."""
    me = owner.call("GET", "/v2/users/me")["id"]
    others = [one for one in living["usr"] if one != me]
    user = chance.choice(others) if others else new_user()
    # Admins have billing access, whatever is said.
    rights = chance.choice([every_group() | {"billing": True}, member_of_one()])
    return Said(path={"id": user}, body=rights)


@wish()
def remove_user():
    return Said(path={"id": new_user()})


@wish()
def create_api_key():
    when = chance.choice([{"expires_in": "30d"}, {"expires_in": left_out}])
    return Said(body={"type": "api", "expires_at": left_out} | when | chance.choice([every_group, one_group])())


@wish()
def update_api_key():
    return Said(body={"expires_at": None} | chance.choice([every_group, one_group])())


@wish()
def rotate_api_key():
    """Once each."""
    key = new_key()["id"]
    made(key)
    return Said(path={"id": key}, body={"grace": "48h"})


# Billing. The owner is subscribed, and has a card that pays.

packs = ["tokens_1000", "tokens_10000", "tokens_100000"]
plans = ["starter", "growth", "enterprise"]


@wish()
def create_checkout_session():
    return Said(body={"mode": "payment", "plan_key": chance.choice(packs)})


@wish()
def change_plan():
    now = owner.call("GET", "/v2/billing")["active_subscription"]["plan_key"]
    return Said(body={"plan_key": chance.choice([plan for plan in plans if plan != now])})


@wish()
def remove_payment_method():
    """One that is not charged, as another has taken its place."""
    secret = owner.call("POST", "/v2/payment-methods")["client_secret"]
    click(f"setup/{secret}", "use:succeeds")
    [spare, *_] = [one["id"] for one in owner.call("GET", "/v2/payment-methods") if not one["is_default"]]
    return Said(path={"id": spare})


def every_group():
    return {"group_scope": "all", "groups": []}


def one_group():
    return {"group_scope": "selected", "groups": [chance.choice(living["grp"])]}


def member_of_one():
    return {"role": "member"} | one_group()


somewhere = {"latitude": 47.3686, "longitude": 8.5392, "opening_hours": None}


def new_device():
    text = str(uuid.UUID(int=chance.getrandbits(128)))
    return f"dev_{text[:14]}7{text[15:19]}8{text[20:]}"


def new_place(kind, where=None):
    """The id of one more place, in one that there is."""
    around = {
        "location": lambda: {"group_id": chance.choice(living["grp"]), "timezone": "Europe/Zurich"},
        "zone": lambda: {"location_id": chance.choice(living["loc"])},
        "screen": lambda: {"zone_id": chance.choice(living["zon"]), "width_px": 1920, "height_px": 1080},
    }[kind]()
    one = owner.call("POST", f"/v2/{kind}s", {"name": "One more"} | around | (where or {}))["id"]
    made(one)
    return one


def new_key():
    return owner.call("POST", "/v2/api-keys", {"name": "Nightly export"})


def new_user():
    user = new_user_of(owner)
    made(user)
    return user
