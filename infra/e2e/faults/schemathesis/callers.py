"""The caller that sends the generated requests."""

from api import call, settings

caller = settings["as"]
is_known = caller != "nobody"
is_person = caller in ("owner", "admin", "member")
credentials = settings["callers"].get(caller, {})


def new_token():
    if is_person:
        return call("POST", "/v2/auth/login", credentials)["access_token"]
    return credentials.get("token") or call("POST", "/v2/auth/api-token", more=credentials)["access_token"]
