"""The caller that sends the generated requests."""

import sys

from api import call, settings

caller = settings["as"]
is_known = caller != "nobody"
is_person = caller in ("owner", "admin", "member")
credentials = settings["callers"].get(caller, {})


def new_token():
    try:
        return sign_in()["access_token"]
    except Exception as error:
        # Schemathesis says no more than that it has no token.
        print(f"{caller} could not sign in: {error!r}", file=sys.stderr)
        raise


def sign_in():
    if is_person:
        return call("POST", "/v2/auth/login", credentials)
    if "token" in credentials:
        return {"access_token": credentials["token"]}
    return call("POST", "/v2/auth/api-token", more=credentials)
