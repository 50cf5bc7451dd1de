"""Values without which a request cannot succeed, and which the document cannot know."""

import uuid
from dataclasses import dataclass, field
from functools import cache

from api import call, chance, click, put, settings
from callers import caller, is_person
from ids import existing_ids, add_id
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
    take_person,
    step_now,
    totp,
    unverified,
    with_heir,
)

# As the value of a body's field: removes the field.
left_out = object()


@dataclass
class Override:
    """Values that replace generated ones."""

    path: dict = field(default_factory=dict)
    body: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)

    def into(self, body):
        return {name: value for name, value in (body | self.body).items() if value is not left_out}


@dataclass
class Sender:
    kind: object
    person: Person


class OverrideRule:
    def __init__(self, kinds, instead_of, build):
        self.kinds = kinds
        self.instead_of = instead_of
        self.build = build

    def sender(self):
        """Returns the sender of the request; None for the caller, who may be refused because of what the caller is."""
        stand_in = {"anyone": True, "people": is_person, "owner": caller == "owner"}[self.instead_of]
        if not self.kinds or not stand_in:
            return None
        kind = chance.choice(self.kinds)
        return Sender(kind, take_person(kind))

    def override_by(self, sender):
        if self.kinds and not sender:
            return Override()
        return self.build(sender.person) if sender else self.build()


overrides = {}


def override(*kinds, instead_of="people"):
    """
    Registers the function for the operation of the same name. If kinds are given, a person of one of these kinds sends
    every request of the operation, because it may take away rights that the caller must keep: instead of people, of an
    owner alone, or of anyone.
    """

    def register(build):
        overrides[build.__name__] = OverrideRule(kinds, instead_of, build)
        return build

    return register


# Without a token.


@override()
def signup():
    return Override(body=newcomer().credentials())


@override()
def verify_email():
    person = unverified()
    return Override(body={"email": person.email, "code": person.mailed_code()})


@override()
def login():
    """Mostly the response is a session; for people with MFA, or who must set it up, it is another one."""
    kind = chance.choice([None, None, requiring, enrolled])
    return Override(body=(one_of(kind) if kind else owner).credentials())


@cache
def one_of(kind):
    return kind()


@override()
def refresh_session():
    return Override(body={"refresh_token": owner.log_in()["refresh_token"]})


@override()
def reset_password():
    person = unverified()
    person.mailed_code()
    call("POST", "/v2/auth/forgot-password", {"email": person.email})
    return Override(body={"email": person.email, "code": person.mailed_code(), "new_password": password})


@override()
def exchange_api_key():
    key = new_key()
    return Override(headers={"x-access-key-id": key["access_key_id"], "x-access-key-secret": key["access_key_secret"]})


@override(plain, newcomer)
def accept_invitation(person):
    person.invitation = person.invitation or invite(person, owner)
    return Override(body={"token": person.invitation, "full_name": full_name, "password": password})


# Operations that take rights away from their sender.


@override(plain)
def logout(person):
    return Override()


@override(plain)
def end_session(person):
    [session] = person.call("GET", "/v2/users/me/sessions")["entries"]
    return Override(path={"id": session["id"]})


@override(plain)
def change_password(person):
    return Override(body={"current_password": person.password, "new_password": "a short swim at noon"})


@override(plain, instead_of="owner")
def close_account(person):
    return Override(path={"id": person.account_id})


@override(plain, instead_of="owner")
def update_account(person):
    return Override(path={"id": person.account_id})


@override(with_heir, instead_of="owner")
def transfer_ownership(person):
    return Override(path={"id": person.account_id}, body={"user_id": person.heir})


@override(plain, requiring)
def switch_account(person):
    return Override(body={"account_id": person.account_id})


# MFA. A setup_token, if there is one, identifies the caller in place of the session.


@override(plain, requiring)
def set_up_mfa(person):
    return Override(body={"setup_token": person.log_in().get("setup_token", left_out)})


@override(plain, requiring)
def verify_mfa_setup(person):
    setup_token = person.log_in().get("setup_token")
    secret = person.call("POST", "/v2/mfa/setup", {"setup_token": setup_token} if setup_token else None)["secret"]
    return Override(body={"code": totp(secret, step_now()), "setup_token": setup_token or left_out})


@override(enrolled, instead_of="anyone")
def verify_mfa_challenge(person):
    return Override(body={"challenge_token": person.log_in()["challenge_token"], "code": any_code(person)})


@override(enrolled)
def renew_recovery_codes(person):
    return Override(body={"code": any_code(person)})


@override(enrolled)
def disable_mfa(person):
    return Override(body={"code": any_code(person)})


def any_code(person):
    return chance.choice([fresh_code(person), *person.recovery_codes])


# Operations of the owner.


@override()
def create_location():
    return Override(body={"group_id": some_group(), "timezone": "Europe/Zurich"} | somewhere)


@override()
def update_location():
    return Override(body={"timezone": "Europe/Zurich"} | somewhere)


@override()
def create_screen():
    return Override(body={"orientation": left_out})


@override()
def update_screen():
    return Override(body={"orientation": left_out, "zone_id": left_out})


@override()
def create_installation():
    location = chance.choice(existing_ids["loc"])
    screen = new_place("screen", {"zone_id": new_place("zone", {"location_id": location})})
    outputs = [{"output": "HDMI-1", "screen_id": screen}]
    return Override(body={"location_id": location, "device_id": new_device(), "outputs": outputs})


@override()
def update_installation():
    return Override(body={"outputs": []})


# A place with others in it or a mounted screen cannot be deleted, so a new one is.


@override()
def delete_location():
    return Override(path={"id": new_place("location")})


@override()
def delete_zone():
    return Override(path={"id": new_place("zone")})


@override()
def delete_screen():
    return Override(path={"id": new_place("screen")})


@override()
def create_invitation():
    return Override(body={"email": newcomer().email} | chance.choice([every_group, member_of_one])())


@override()
def update_user():
    """Not the owner, whose role and services this operation cannot change."""
    me = owner.call("GET", "/v2/users/me")["id"]
    others = [one for one in existing_ids["usr"] if one != me]
    user = chance.choice(others) if others else new_user()
    # Admins always have billing access.
    rights = chance.choice([every_group() | {"billing": True}, member_of_one()])
    return Override(path={"id": user}, body=rights)


@override()
def remove_user():
    return Override(path={"id": new_user()})


@override()
def create_api_key():
    when = chance.choice([{"expires_in": "30d"}, {"expires_in": left_out}])
    return Override(body={"type": "api", "expires_at": left_out} | when | chance.choice([every_group, one_group])())


@override()
def update_api_key():
    return Override(body={"expires_at": None} | chance.choice([every_group, one_group])())


@override()
def rotate_api_key():
    """Each key can be rotated only once, so a new one is."""
    key = new_key()["id"]
    add_id(key)
    return Override(path={"id": key}, body={"grace": "48h"})


# Devices. A label claims one device, and a retired device stays so.

labels = list(settings["labels"])


@override()
def claim_device():
    return Override(body={"claim_code": labels.pop(), "serial": left_out})


@override()
def retire_device():
    return Override(path={"id": owner.call("POST", "/v2/devices/claims", {"claim_code": labels.pop()})["id"]})


# Campaigns. The owner has ads of pictures that are ready, and a screen tagged "studio" that no request changes.


@override()
def create_media_asset():
    return Override(body={"filename": "spring.png", "mime_type": "image/png", "size_bytes": 4})


@override()
def complete_media_asset():
    return Override(path={"id": new_upload()}, body={"sha256": None})


@override()
def renew_media_upload():
    return Override(path={"id": new_asset()["id"]})


@override()
def get_job():
    asset = new_upload()
    return Override(path={"id": owner.call("POST", f"/v2/media-assets/{asset}/complete", {})["job_id"]})


@override()
def delete_media_asset():
    return Override(path={"id": new_asset()["id"]})


@override()
def delete_media_library():
    return Override(path={"id": owner.call("POST", "/v2/media-libraries", one_more())["id"]})


@override()
def delete_ad_library():
    return Override(path={"id": owner.call("POST", "/v2/ad-libraries", one_more())["id"]})


@override()
def delete_ad():
    return Override(path={"id": new_ad()})


@override()
def get_ad_profile():
    return Override(path={"id": with_profile()})


@override()
def delete_ad_profile():
    return Override(path={"id": with_profile()})


@override()
def replace_ad_profile():
    return Override(path={"id": new_ad()}, body={"dayparts": [], "audience": {}})


@override()
def set_campaign_target():
    return Override(path={"id": new_campaign()["id"]}, body={"exclude": left_out})


@override()
def add_campaign_ad():
    return Override(path={"id": new_campaign()["id"]}, body={"ad_id": new_ad(), "screen_tag": "window"})


@override()
def update_campaign_ad():
    return Override(path=new_campaign(), body={"screen_tag": "entrance"})


@override()
def remove_campaign_ad():
    return Override(path=new_campaign())


@override()
def score_campaign():
    return Override(path=new_campaign())


@override()
def publish_campaign():
    return Override(path=new_campaign())


@override()
def revise_campaign():
    return Override(path=published())


@override()
def archive_campaign():
    return Override(path=published())


@override()
def discard_campaign_draft():
    campaign = published()
    owner.call("POST", f"/v2/campaigns/{campaign['id']}/revise")
    return Override(path=campaign)


@override()
def get_campaign_version():
    return Override(path=published() | {"version": 1})


def new_asset():
    body = {"media_library_id": chance.choice(existing_ids["mlb"]), "filename": "spring.png", "size_bytes": 4}
    return owner.call("POST", "/v2/media-assets", body)


def new_upload():
    """An asset whose bytes are there. They are no picture, so its processing fails."""
    asset = new_asset()
    put(asset["upload_url"], b"none")
    return asset["id"]


def new_ad():
    body = {"ad_library_id": chance.choice(existing_ids["asl"]), "media_asset_id": ready_asset}
    return owner.call("POST", "/v2/ads", body)["id"]


# The first one is never deleted: an ad is made of it.
ready_asset = existing_ids["mda"][0] if existing_ids["mda"] else None


def with_profile():
    ad = new_ad()
    owner.call("PUT", f"/v2/ads/{ad}/profile", {"audience": {}, "dayparts": []})
    return ad


def new_campaign():
    """A draft with an ad that reaches screens, as parameters of paths."""
    campaign = owner.call("POST", "/v2/campaigns", one_more())["id"]
    target = {"include": {"group_ids": [], "location_ids": [], "tags": ["studio"]}}
    owner.call("PUT", f"/v2/campaigns/{campaign}/target", target)
    body = {"ad_id": new_ad(), "screen_tag": "studio"}
    campaign_ad = owner.call("POST", f"/v2/campaigns/{campaign}/ads", body)["id"]
    return {"id": campaign, "campaign_ad_id": campaign_ad}


def published():
    campaign = new_campaign()
    owner.call("POST", f"/v2/campaigns/{campaign['id']}/publish")
    return campaign


# Events. An entry for each visitor and time can be made once, so each request is for somebody else.


@override()
def create_blacklist_entry():
    return Override(body=new_entry() | {"from": left_out, "until": left_out})


@override()
def delete_blacklist_entry():
    return Override(path={"id": owner.call("POST", "/v2/blacklist", new_entry() | {"reason": "staff"})["id"]})


def new_entry():
    visitor = f"visitor-{chance.getrandbits(96):024x}"
    return {"visitor_key": visitor, "location_id": chance.choice([None, *existing_ids["loc"]])}


# Billing. The owner has a subscription and a card that works.

packs = ["tokens_1000", "tokens_10000", "tokens_100000"]
plans = ["starter", "growth", "enterprise"]


@override()
def create_checkout_session():
    return Override(body={"mode": "payment", "plan_key": chance.choice(packs)})


@override()
def change_plan():
    now = owner.call("GET", "/v2/billing")["active_subscription"]["plan_key"]
    return Override(body={"plan_key": chance.choice([plan for plan in plans if plan != now])})


@override()
def remove_payment_method():
    """A payment method that is not the default any more."""
    secret = owner.call("POST", "/v2/payment-methods")["client_secret"]
    click(f"setup/{secret}", "use:succeeds")
    [spare, *_] = [one["id"] for one in owner.call("GET", "/v2/payment-methods") if not one["is_default"]]
    return Override(path={"id": spare})


def every_group():
    return {"group_scope": "all", "groups": []}


def one_group():
    return {"group_scope": "selected", "groups": [chance.choice(existing_ids["grp"])]}


def member_of_one():
    return {"role": "member"} | one_group()


somewhere = {"latitude": 47.3686, "longitude": 8.5392, "opening_hours": None}


def some_group():
    """Often the one that the member sees."""
    return chance.choice([settings["group"], chance.choice(existing_ids["grp"])])


def one_more():
    """What belongs to a group, for the member to see."""
    return {"name": "One more", "group_id": settings["group"]}


def new_device():
    text = str(uuid.UUID(int=chance.getrandbits(128)))
    return f"dev_{text[:14]}7{text[15:19]}8{text[20:]}"


def new_place(kind, where=None):
    """Creates a place in an existing one and returns its id."""
    around = {
        "location": lambda: {"group_id": some_group(), "timezone": "Europe/Zurich"},
        "zone": lambda: {"location_id": chance.choice(existing_ids["loc"])},
        "screen": lambda: {"zone_id": chance.choice(existing_ids["zon"]), "width_px": 1920, "height_px": 1080},
    }[kind]()
    one = owner.call("POST", f"/v2/{kind}s", {"name": "One more"} | around | (where or {}))["id"]
    add_id(one)
    return one


def new_key():
    return owner.call("POST", "/v2/api-keys", {"name": "Nightly export"})


def new_user():
    user = new_user_of(owner)
    add_id(user)
    return user
