"""Existing ids, by prefix. Generated ids exist nowhere, so they are replaced by these."""

import re

from api import chance, settings

an_id = re.compile(r"^(acc|usr|inv|key|rt|grp|loc|zon|scr|ins|cam|job|cmp|cs|pay|ref|mlb|asl|mda|ad|cad|dev|bl)_[0-9a-f-]{36}$")
existing_ids = {prefix: list(ids) for prefix, ids in settings["ids"].items()}
seen = {one for ids in existing_ids.values() for one in ids}


def is_id(value):
    return isinstance(value, str) and an_id.match(value) is not None


def of(one):
    return existing_ids[one.split("_")[0]]


def add_id(one):
    seen.add(one)
    of(one).append(one)


def remove_id(one):
    """Removes an id that was deleted or has become useless, so that it replaces no generated id any more."""
    if is_id(one) and one in of(one):
        of(one).remove(one)


def existing_id(value):
    """Replaces an id that never existed by an existing one; deleted ids stay as they are."""
    return chance.choice(of(value) or [value]) if is_id(value) and value not in seen else value


def with_existing_ids(value):
    if isinstance(value, dict):
        return {name: with_existing_ids(item) for name, item in value.items()}
    return [with_existing_ids(item) for item in value] if isinstance(value, list) else existing_id(value)
