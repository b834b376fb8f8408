"""The reading page's server: what it refuses, and what a reader's browser is told before a mark."""

from __future__ import annotations

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image
from study_cases import AXES, HOST, client_of, mark, signed_in, state_of, study_in

from judge_audit.core.digests import pixel_digest
from judge_audit.people.study import readers as people
from judge_audit.people.study.picture_provider import SURROUND, stored_png
from judge_audit.people.study.plan import slots_of


@pytest.fixture
def case(tmp_path):
    folder, lake, tokens = study_in(tmp_path)
    state, heard = state_of(folder, lake)
    return state, tokens, heard


def pixels_of(reply):
    assert reply.status_code == 200
    return np.asarray(Image.open(io.BytesIO(reply.content)))


def slots(state, place=0):
    return slots_of(state.folder.study, state.readers()[1][place].reader_id)


def test_a_stored_png_holds_the_pixels_and_its_length_tells_only_their_number():
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 256, (33, 47, 3)).astype(np.uint8)
    flat = np.full((33, 47, 3), 200, np.uint8)
    files = [stored_png(noise), stored_png(flat), stored_png(flat)]
    assert len({len(file) for file in files}) == 1
    assert files[1] != files[2]
    for file, pixels in zip(files, (noise, flat, flat), strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(file))), pixels)


def test_a_reader_sees_the_very_pixels_that_the_plan_names(case):
    state, (token, _), _ = case
    client = signed_in(state, token)
    for place, slot in enumerate(slots(state), 1):
        ladder = client.get(f"/api/ladder/{place}").json()
        assert len(ladder["pictures"]) == state.folder.study.steps + 1
        replies = [client.get(path) for path in ladder["pictures"]]
        assert len({len(reply.content) for reply in replies}) == 1
        assert len({reply.content for reply in replies}) == len(replies)
        shown = [pixels_of(reply) for reply in replies]
        assert pixel_digest(shown[0]) == slot.ladder.pixel_digest
        for step, picture in enumerate(shown):
            rung = slot.rung(step)
            if not rung:
                assert np.array_equal(picture, shown[0])
            elif slot.ladder.axis == "crop" and not slot.ladder.catch:
                strength = slot.ladder.strengths[rung - 1]
                kept = picture.shape[1] - round(picture.shape[1] * strength)
                assert (
                    pixel_digest(np.ascontiguousarray(picture[:, :kept]))
                    == slot.ladder.rung_digests[rung - 1]
                )
                assert (picture[:, kept:] == SURROUND).all()
            else:
                assert pixel_digest(picture) == slot.ladder.rung_digests[rung - 1]
        reply = mark(client, place, None)
        assert reply.json()["at"] == place + 1
    assert client.get("/api/state").json()["at"] == state.folder.study.slots + 1


def test_nothing_a_browser_is_told_before_the_mark_names_axis_strength_item_or_another_reader(tmp_path):
    folder, lake, (ana, ben) = study_in(tmp_path, ("annabel", "benedict"))
    state, _ = state_of(folder, lake)
    assert mark(signed_in(state, ben), 1, 5).status_code == 200
    client = signed_in(state, ana)
    replies = [client.get(path) for path in ("/", "/api/state", "/api/ladder/1", "/api/ladder/2")]
    pictures = [client.get(path) for path in replies[2].json()["pictures"]]
    assert {reply.status_code for reply in (*replies, *pictures)} == {200}
    words = {
        "zebra",
        "quokka",
        "heron",
        "otter",
        "benedict",
        "saturation",
        "blur",
        "crop",
        "catch",
        "lake",
        "/tmp",
    }
    words |= {"axis", "strength", "score", "item", "probe", "digest"}
    for held in state.folder.study.ladders:
        words |= {*held.probe_ids, *held.rung_digests, held.pixel_digest, held.uri}
        words |= {format(strength, ".4g") for strength in held.strengths if strength < 1}
    bodies = b"".join(reply.content for reply in replies[1:])
    assert [word for word in words if word.encode() in bodies] == []
    heads = json.dumps([list(reply.headers.multi_items()) for reply in (*replies, *pictures)])
    heads += "".join(str(reply.url) for reply in (*replies, *pictures))
    assert [word for word in words - {"crop"} if word in heads] == []  # “microphone” stands in a policy
    seen = b"".join(reply.content for reply in pictures)
    assert [word for word in words if len(word) > 4 and word.encode() in seen] == []
    names = {name.lower() for reply in (*replies, *pictures) for name in reply.headers}
    assert not names & {"etag", "last-modified", "server"}
    # The page and its files are the same whoever asks, so they tell nobody anything.
    for path in ("/", "/page/reading.js", "/page/stage.js", "/page/reading.css"):
        assert client.get(path).content == client_of(state).get(path).content


def test_addresses_of_pictures_differ_between_sessions_and_cannot_be_lent(case):
    state, (ana, ben), _ = case
    first, second = signed_in(state, ana), signed_in(state, ana)
    one, two = (client.get("/api/ladder/1").json()["pictures"] for client in (first, second))
    assert not set(one) & set(two)
    assert second.get(one[0]).status_code == 404
    assert signed_in(state, ben).get(one[0]).status_code == 404
    assert client_of(state).get(one[0]).status_code == 401


def test_forged_expired_and_withdrawn_links_are_refused_alike(case):
    state, (ana, _), _ = case
    key, readers = state.readers()
    client = signed_in(state, ana)
    assert client.get("/api/state").status_code == 200
    pages = [client_of(state).get("/r/forged-token-of-no-reader")]
    state.folder.write_readers(key, people.revoke(readers, "ana"))
    pages.append(client_of(state).get(f"/r/{ana}"))
    assert client.get("/api/state").status_code == 401, "a session ends with its link"
    assert {page.status_code for page in pages} == {403}
    assert len({page.content for page in pages}) == 1
    client.cookies.set("reader", "0" * 16 + "." + "0" * 32 + "." + "0" * 64)
    assert client.get("/api/state").status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/api/ladder/0",
        "/api/ladder/9",
        "/api/ladder/999999999999999999999",
        "/api/ladder/zebra-00",
        "/api/ladder/-1",
        "/picture/1/..%2f..%2fstudy.json",
        "/picture/1/original",
        "/page/..%2fserver.py",
        "/page/index.html",
        "/page/....//readers.json",
        "/study.json",
        "/docs",
        "/openapi.json",
    ],
)
def test_foreign_ladders_and_paths_are_not_found_and_nothing_leaks(case, path):
    state, (token, _), heard = case
    reply = signed_in(state, token).get(path)
    assert reply.status_code == 404
    assert not re.search(rb"/tmp|zebra|Traceback|judge_audit|File", reply.content)
    assert not heard


def test_a_ladder_further_on_is_not_marked_before_its_turn(case):
    state, (token, _), _ = case
    client = signed_in(state, token)
    assert mark(client, 2, 3).status_code == 404
    assert mark(client, 5, 3).status_code == 404
    assert state.marks.rows() == []


def test_marks_from_other_sites_are_refused(case):
    state, (token, _), _ = case
    client = signed_in(state, token)
    form = client.get("/api/state").json()["form"]
    body = {"slot": 1, "after": -1, "perceptible": None, "screen": {}}

    def send(**headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post("/api/mark", json=body, headers=named).status_code

    assert send(x_form=form, origin="https://evil.example") == 403
    assert send(x_form=form, sec_fetch_site="cross-site") == 403
    assert send(x_form=form, origin="null") == 403
    assert send(x_form="0" * 64) == 403
    assert send() == 403
    text = client.post(
        "/api/mark", content=json.dumps(body), headers={"x-form": form, "content-type": "text/plain"}
    )
    assert text.status_code == 403
    assert send(x_form=form, origin=HOST) == 400  # past the guard: only its form is wrong
    assert state.marks.rows() == []


def test_another_name_for_this_machine_is_refused(case):
    state, _, _ = case
    assert client_of(state, headers={"host": "evil.example"}).get("/").status_code == 421


def test_an_oversized_body_is_refused(case):
    state, (token, _), _ = case
    client = signed_in(state, token)
    reply = client.post("/api/mark", content=b"x" * 5000, headers={"content-type": "application/json"})
    assert reply.status_code == 413
    streamed = client.post("/api/mark", content=(b"x" * 1000 for _ in range(50)))
    assert streamed.status_code == 413
    assert client.get("/" + "a" * 400).status_code == 414


@pytest.mark.parametrize(
    "change",
    [
        {"perceptible": 0},
        {"perceptible": 99},
        {"perceptible": 2.5},
        {"perceptible": True},
        {"perceptible": "3"},
        {"after": -2},
        {"slot": "1"},
        {"reason": "x" * 201},
        {"reason": "a\u0000b"},
        {"reason": 5},
        {"screen": None},
        {"screen": {"shown_width": 1}},
        {"asked": True, "perceptible": 5, "objectionable": 3},
    ],
)
def test_what_no_page_of_ours_sends_is_refused(case, change):
    state, (token, _), _ = case
    client = signed_in(state, token)
    sent = {
        "slot": 1,
        "after": -1,
        "perceptible": 3,
        "objectionable": None,
        "asked": False,
        "reason": "",
        "screen": {
            "shown_width": 1,
            "shown_height": 1,
            "pixel_ratio": 1,
            "zoom": 1,
            "distance_cm": None,
            "seconds": 1,
        },
    }
    form = client.get("/api/state").json()["form"]
    reply = client.post("/api/mark", json={**sent, **change}, headers={"x-form": form})
    assert reply.status_code == 400
    bare = client.post(
        "/api/mark", content=b"[NaN", headers={"x-form": form, "content-type": "application/json"}
    )
    assert bare.status_code == 400
    assert state.marks.rows() == []
    assert client.post("/api/mark", json=sent, headers={"x-form": form}).status_code == 200


def test_a_picture_that_changed_is_told_the_owner_and_not_shown(case, tmp_path):
    state, (token, _), heard = case
    slot = slots(state)[0]
    Image.fromarray(np.zeros((40, 48, 3), np.uint8)).save(slot.ladder.uri)
    reply = signed_in(state, token).get("/api/ladder/1")
    assert reply.status_code == 503
    assert b"zebra" not in reply.content
    assert "its picture was changed" in heard[0]


def test_an_axis_that_draws_other_pixels_is_not_shown(case):
    state, _, _ = case
    slot = next(slot for slot in slots(state) if not slot.ladder.catch)
    from dataclasses import replace

    own = AXES[slot.ladder.axis]
    changed = replace(own, draw=lambda image, strength, scratch: 255 - own.draw(image, strength, scratch))
    state.pictures.axes = {**AXES, slot.ladder.axis: changed}
    with pytest.raises(Exception, match="the axis, or the libraries"):
        state.pictures.rungs(slot.ladder)


def test_another_persons_link_in_the_same_browser_asks_first(case):
    state, (ana, ben), _ = case
    client = signed_in(state, ana)
    asked = client.get(f"/r/{ben}")
    assert asked.status_code == 409
    assert "two different people" in asked.text
    assert client.get("/api/state").json()["reader"] == "ana"
    forced = client.post(f"/r/{ben}", headers={"sec-fetch-site": "cross-site"})
    assert forced.status_code == 403
    client.post(f"/r/{ben}", headers={"origin": HOST})
    assert client.get("/api/state").json()["reader"] == "ben"


def test_answers_carry_a_strict_policy_and_cookies_are_out_of_reach_of_scripts(case):
    state, (token, _), _ = case
    client = client_of(state)
    reply = client.get(f"/r/{token}", follow_redirects=False)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie
    for path in ("/", "/api/state", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
    state.secure = True
    assert (
        "secure" in client_of(state).get(f"/r/{token}", follow_redirects=False).headers["set-cookie"].lower()
    )


def test_a_page_holds_no_inline_script_style_or_foreign_address(case):
    state, _, _ = case
    client = client_of(state)
    for path in ("/", "/page/reading.js", "/page/stage.js", "/page/reading.css"):
        text = client.get(path).text
        assert "http://" not in text
        assert "https://" not in text
        assert not re.search(r"<script(?! type=\"module\" src=)|<style|\sstyle=|\son\w+=", text)


def test_fifty_readers_at_once_lose_and_double_nothing(tmp_path):
    names = [f"reader {number}" for number in range(50)]
    folder, lake, tokens = study_in(tmp_path, names)
    state, heard = state_of(folder, lake)

    def read(token):
        client = signed_in(state, token)
        for place in (1, 2):
            ladder = client.get(f"/api/ladder/{place}").json()
            assert pixels_of(client.get(ladder["pictures"][3])).shape == (40, 48, 3)
            assert mark(client, place, None).status_code == 200
            assert mark(client, place, None).status_code == 200
        return client.get("/api/state").json()["at"]

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(read, tokens)) == {3}
    rows = lake.read("readings").to_pylist()
    assert len(rows) == 100
    assert {row["annotator_id"] for row in rows} == set(names)
    assert not heard
