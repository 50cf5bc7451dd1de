"""Ids that exist, by prefix: what is made up exists nowhere."""

import re

from asking import chance, settings

an_id = re.compile(r"^(acc|usr|inv|key|rt|grp|loc|zon|scr|ins|cam|job|cmp|cs|pay|ref)_[0-9a-f-]{36}$")
living = {prefix: list(ids) for prefix, ids in settings["ids"].items()}
seen = {one for ids in living.values() for one in ids}


def is_id(value):
    return isinstance(value, str) and an_id.match(value) is not None


def of(one):
    return living[one.split("_")[0]]


def made(one):
    seen.add(one)
    of(one).append(one)


def gone(one):
    """Deleted, or of no more use: it is put nowhere from now on."""
    if is_id(one) and one in of(one):
        of(one).remove(one)


def living_for(value):
    """An id that nobody has ever seen becomes one that exists; deleted ones stay as they are."""
    return chance.choice(of(value) or [value]) if is_id(value) and value not in seen else value


def living_in(value):
    if isinstance(value, dict):
        return {name: living_in(item) for name, item in value.items()}
    return [living_in(item) for item in value] if isinstance(value, list) else living_for(value)
