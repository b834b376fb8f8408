"""The reading page in a real browser: by keyboard and by mouse, through reloads and kills, pixel for pixel."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from judge_audit.lake import Lake

pytestmark = [pytest.mark.parts, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from judge_audit.cli import main; main()"]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
JUDGE = """
def score(images, prompts):
    return [float(image.mean()) + float(image.std()) / 7 for image in images]
"""


@pytest.fixture(scope="module")
def playwright():
    found = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        if os.environ.get("JUDGE_AUDIT_PARTS") == "required":
            pytest.fail("there is no Chromium on this machine: install the package chromium")
        pytest.skip("there is no Chromium on this machine")
    with found.sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright):
    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield launched
    launched.close()


def told(folder, *words, code=0):
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([*COMMAND, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False,
                          timeout=400)  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


class Server:
    """The page's server in a process of its own."""

    def __init__(self, folder, port):
        self.folder, self.port = folder, port
        self.start()

    def start(self):
        self.process = subprocess.Popen([*COMMAND, "study", "serve", "study", "--port", str(self.port)],
                                        cwd=self.folder, stderr=subprocess.PIPE, text=True)  # fmt: skip
        for line in self.process.stderr:
            if "Ctrl-C" in line:
                return
        raise AssertionError("the server did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()


def pictures_in(folder, count, size):
    rows = [["item_id", "source", "prompt", "image", "topic", "cluster"]]
    (folder / "art").mkdir(parents=True)
    for number in range(count):
        rng = np.random.default_rng(number)
        coarse = Image.fromarray(rng.integers(40, 216, (7, 8, 3)).astype(np.uint8))
        coarse.resize(size, Image.Resampling.BICUBIC).save(folder / "art" / f"zebra{number}.png")
        rows.append([f"zebra-{number:02d}", f"quokka{number % 2}", "a bird", f"art/zebra{number}.png", "heron",
                     f"otter{number}"])  # fmt: skip
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def study_in(folder, port, *, count=9, size=(120, 90), axes="saturation+", more=()):
    pictures_in(folder, max(count, 9), size)
    (folder / "bright_judge.py").write_text(JUDGE)
    out = told(folder, "study", "plan", "--items", "items.csv", "--axes", axes, "--lake", "lake", "--readers",
               "annabel,benedict", "--url", f"http://127.0.0.1:{port}", "--ladder-items", str(count),
               "--per-axis", str(count), "--catches", "2", "--repeats", "1", "--json", *more)  # fmt: skip
    return json.loads(out)


class Robot:
    """A reader who sees a change where the pictures that the browser got differ by so much on average."""

    def __init__(self, context, link, sees, minds):
        self.sees, self.minds = sees, minds
        self.page = context.new_page()
        self.ladders, self.bodies, self.traffic, self.faults = {}, {}, [], []
        self.answers = []
        self.page.on("response", self.answered)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self.console)
        self.page.goto(link)
        self.page.click("#start")

    def console(self, message):
        # A server that was killed leaves refused connections behind, and a second tab a conflict.
        if message.type == "error" and not re.search(r"ERR_|409", message.text):
            self.faults.append(message.text)

    def answered(self, response):
        self.answers.append(response)

    def hear(self):
        """Take in what the browser was answered since last time."""
        while self.answers:
            response = self.answers.pop(0)
            head = json.dumps([response.url, response.status, response.all_headers()])
            if "/picture/" in response.url:
                # The driver does not keep what is read as a picture: the same session asks for it once more.
                body = self.page.context.request.get(response.url).body()
                self.bodies[response.url.split("/picture/")[1]] = body
            else:
                body = b"" if response.status in {204, 303} else response.body()
            self.traffic.append((response.url, head, body))
            if re.search(r"/api/ladder/\d+$", response.url):
                ladder = json.loads(body)
                self.ladders[ladder["slot"]] = ladder

    def place(self):
        from playwright.sync_api import expect

        expect(self.page.locator("#question")).to_have_text(re.compile("^(Find|Now|You)"))
        self.page.wait_for_load_state("networkidle")
        self.hear()
        return int(re.search(r"Picture (\d+)", self.page.inner_text("#place"))[1])

    def step_of(self, place, least):
        """The first step at which the picture differs by at least so many levels, None for never."""
        names = [path.split("/picture/")[1] for path in self.ladders[place]["pictures"]]
        shown = [np.asarray(Image.open(io.BytesIO(self.bodies[name])), np.int16) for name in names]
        seen = [step for step, picture in enumerate(shown) if np.abs(picture - shown[0]).mean() >= least]
        return seen[0] if seen else None

    def read(self):
        """Read the ladder on the stage to its end, and give what was marked."""
        place = self.place()
        first, second = self.step_of(place, self.sees), self.step_of(place, self.minds)
        self.point(first)
        if first is not None:
            self.wait_for("#mark-text", "It disturbs me")
            self.point(second)
        self.leave(place)
        return place, first, second

    def leave(self, place):
        from playwright.sync_api import expect

        expect(self.page.locator("#place, #done:visible h1").first).not_to_have_text(
            re.compile(rf"^Picture {place} of"), timeout=20_000
        )

    def wait_for(self, where, text):
        from playwright.sync_api import expect

        expect(self.page.locator(where)).to_have_text(text, timeout=20_000)

    def now_at(self):
        return int(self.page.input_value("#slider"))


class ByKeyboard(Robot):
    def point(self, step):
        if step is None:
            self.page.keyboard.press("End")
            self.page.keyboard.press("n")
            return
        while self.now_at() != step:
            self.page.keyboard.press("ArrowRight" if self.now_at() < step else "ArrowLeft")
        self.page.keyboard.press("Enter")


class ByMouse(Robot):
    def point(self, step):
        slider = self.page.locator("#slider")
        box, last = slider.bounding_box(), int(slider.get_attribute("max"))
        target = last if step is None else step
        self.page.mouse.move(box["x"] + 9 + (box["width"] - 18) * self.now_at() / last, box["y"] + 22)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + 9 + (box["width"] - 18) * target / last, box["y"] + 22, steps=4)
        self.page.mouse.up()
        while self.now_at() != target:
            self.page.click("#more" if self.now_at() < target else "#less")
        self.page.click("#never" if step is None else "#mark")


def verdicts_of(folder):
    told(folder, "run", "--items", "items.csv", "--judge", "bright_judge:score", "--axes", "saturation+",
         "--ladder-items", "9", "--lake", "lake", "--report", "report")  # fmt: skip
    lake = Lake.open(folder / "lake")
    newest = max(row["audit_id"] for row in lake.read("audits").to_pylist())
    return [
        row
        for row in lake.read("verdicts", audit_id=newest).to_pylist()
        if row["check"] in {"premature", "top_response"}
        and not row["is_control"]
        and row["axis"] == "saturation+"
    ]


def test_two_people_read_a_study_and_the_audit_is_no_longer_provisional(tmp_path, browser):
    port = free_port()
    plan = study_in(tmp_path, port)
    assert plan["ladders"] == 12
    before = verdicts_of(tmp_path)
    assert before
    assert {row["provisional"] for row in before} == {True}
    server = Server(tmp_path, port)
    try:
        contexts = [
            browser.new_context(viewport={"width": 1280, "height": 800}),
            browser.new_context(
                viewport={"width": 820, "height": 1180}, device_scale_factor=2, has_touch=True
            ),
        ]
        ana = ByKeyboard(contexts[0], plan["links"]["annabel"], 3.0, 9.0)
        ben = ByMouse(contexts[1], plan["links"]["benedict"], 4.0, 11.0)
        marked = {"annabel": {}, "benedict": {}}

        def one(robot, name):
            place, *points = robot.read()
            marked[name][place] = points

        for _ in range(3):
            one(ana, "annabel")
            one(ben, "benedict")
        ana.hear()
        ana.page.reload()
        ana.page.click("#start")
        assert ana.place() == 4
        one(ana, "annabel")
        _killed_between_marks(ana, server)
        marked["annabel"][5] = _last(ana, 5)
        _second_tab(ana, contexts[0])
        marked["annabel"][6] = [None, None]
        _corrected(ana, 6, marked)
        while ana.page.locator("#reading").is_visible() and ana.place() <= 12:
            one(ana, "annabel")
            if len(marked["annabel"]) == 12:
                break
        while len(marked["benedict"]) < 12:
            one(ben, "benedict")
        for robot in (ana, ben):
            robot.wait_for("#done h1", "Thank you: that was the last picture")
            assert robot.faults == []
        _no_word_in(ana.traffic, tmp_path, "benedict")
        _no_word_in(ben.traffic, tmp_path, "annabel")
    finally:
        server.kill()
    _kept(tmp_path, marked)
    after = verdicts_of(tmp_path)
    assert {row["provisional"] for row in after} == {False}
    results = json.loads(told(tmp_path, "study", "results", "study", "--json"))
    assert [reader["read"] for reader in results["readers"]] == [12, 12]
    assert results["readers"][0]["corrections"] == 1
    assert results["axes"][0]["items"] == 9
    assert (tmp_path / "study" / "results.html").stat().st_size > 5000


def _killed_between_marks(ana, server):
    """The server is killed before a mark reaches it; the page keeps trying, and the mark lands once."""
    server.kill()
    place = ana.place()
    assert place == 5
    first = ana.step_of(place, ana.sees)
    ana.point(first)
    ana.wait_for("#notice", re.compile("Not kept yet"))
    server.start()
    if first is not None:
        ana.wait_for("#mark-text", "It disturbs me")
        ana.point(ana.step_of(place, ana.minds))
    ana.leave(place)


def _last(ana, place):
    return [ana.step_of(place, ana.sees), ana.step_of(place, ana.minds)]


def _second_tab(ana, context):
    """Two tabs stand at picture 6: the mark of the one that is quicker is kept, the other is told."""
    assert ana.place() == 6
    tab = context.new_page()
    tab.goto(ana.page.url)
    tab.click("#start")
    tab.wait_for_selector("#place:has-text('Picture 6')")
    tab.keyboard.press("End")
    tab.keyboard.press("n")
    tab.wait_for_selector("#place:has-text('Picture 7')")
    tab.close()
    ana.page.keyboard.press("ArrowRight")
    ana.page.keyboard.press("ArrowRight")
    ana.page.keyboard.press("Enter")
    ana.wait_for("#notice", re.compile("another window"))
    assert ana.place() == 7


def _corrected(ana, place, marked):
    """Go back to a picture and correct it, with a reason."""
    ana.page.keyboard.press("b")
    ana.wait_for("#question", "You marked: no change. Mark again to correct it.")
    assert ana.place() == place
    for _ in range(4):
        ana.page.keyboard.press("ArrowRight")
    ana.page.keyboard.press("Enter")
    ana.page.wait_for_selector("#why[open]")
    ana.page.keyboard.press("ArrowDown")
    ana.page.click("#why-keep")
    ana.wait_for("#mark-text", "It disturbs me")
    ana.page.keyboard.press("ArrowRight")
    ana.page.keyboard.press("Enter")
    ana.leave(place)
    marked["annabel"][place] = [4, 5]


def _no_word_in(traffic, folder, other):
    """Nothing that a browser heard names axis, strength, score, item or the other reader."""
    plan = json.loads((folder / "study" / "study.json").read_text())
    words = {
        "zebra",
        "quokka",
        "heron",
        "otter",
        "saturation",
        "catch",
        other,
        str(folder),
        "score",
        "provisional",
    }
    words |= {format(strength, ".4g") for ladder in plan["ladders"] for strength in ladder["strengths"]} - {
        "1"
    }
    for ladder in plan["ladders"]:
        words |= {ladder["pixel_digest"], *ladder["probe_ids"], *ladder["rung_digests"]}
    static = re.compile(r"/(page/[a-z.]+)?$")
    assert len(traffic) > 150
    for url, head, body in traffic:
        own = [word for word in words if word in head]
        assert own == [], (url, own)
        if static.search(url.split("//")[1].split("/", 1)[-1] and url):
            continue  # the same files for everybody
        said = [word for word in words if word.encode() in body and (len(word) > 4 or "/picture/" not in url)]
        assert said == [], (url, said)


def _kept(folder, marked):
    """Every mark of either robot lies in the lake, once, as it was made."""
    from judge_audit.people.study.folder import open_folder
    from judge_audit.people.study.plan import slots_of

    study = open_folder(folder / "study")
    rows = Lake.open(folder / "lake").read("readings").to_pylist()
    keys = [(row["annotator_id"], row["item_id"], row["axis"], row["catch"], row["repeat"], row["revision"])
            for row in rows]  # fmt: skip
    assert len(keys) == len(set(keys))
    for reader in study.readers()[1]:
        for place, slot in enumerate(slots_of(study.study, reader.reader_id), 1):
            own = [row for row in rows if (row["annotator_id"], row["item_id"], row["catch"], row["repeat"])
                   == (reader.annotator_id, slot.ladder.item_id, slot.ladder.catch, slot.repeat)]  # fmt: skip
            latest = max(own, key=lambda row: row["revision"])
            first, second = marked[reader.annotator_id][place]
            assert latest["perceptible"] == (math.inf if first is None else slot.strength(first)), place
            if first is not None:
                assert latest["objectionable"] == (math.inf if second is None else slot.strength(second))
            assert latest["pixel_ratio"] == {"annabel": 1.0, "benedict": 2.0}[reader.annotator_id]
            assert (latest["shown_width"], latest["shown_height"]) == (120, 90)
            assert latest["seconds"] > 0
    reasons = [row["reason"] for row in rows if row["reason"] not in {None, "second point"}]
    assert reasons == ["looked again and saw it otherwise"]


@pytest.mark.parametrize(
    ("protocol", "ratio"),
    [("slider", 1), ("slider", 1.25), ("slider", 2), ("side_by_side", 1.25), ("flicker", 1.25)],
)
def test_pictures_are_shown_pixel_for_pixel(tmp_path, playwright, ratio, protocol):
    port = free_port()
    plan = study_in(tmp_path, port, count=1, axes="saturation+", size=(301, 203),
                    more=("--protocol", protocol))  # fmt: skip
    server = Server(tmp_path, port)
    launched = playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=[
            "--no-sandbox",
            f"--force-device-scale-factor={ratio}",
            "--window-size=1000,720",
            "--hide-scrollbars",
        ],
    )
    try:
        robot = ByKeyboard(launched.new_context(no_viewport=True), plan["links"]["annabel"], 3, 9)
        place = robot.place()
        assert robot.page.evaluate("devicePixelRatio") == ratio
        robot.page.keyboard.press("End")
        names = [path.split("/picture/")[1] for path in robot.ladders[place]["pictures"]]
        original, copy = (np.asarray(Image.open(io.BytesIO(robot.bodies[names[step]]))) for step in (0, -1))
        shots = [
            np.asarray(Image.open(io.BytesIO(robot.page.screenshot())).convert("RGB")) for _ in range(12)
        ]
        found = {_seen(shot, original, copy) for shot in shots}
        wanted = {
            "slider": {"copy"} if not np.array_equal(original, copy) else {"both"},
            "side_by_side": {"both"},
            "flicker": {"original", "copy"} if not np.array_equal(original, copy) else {"both"},
        }[protocol]
        assert found == wanted
        surround = shots[0][2, 2]
        assert surround.tolist() == [119, 119, 119]
    finally:
        launched.close()
        server.kill()


def _seen(shot, original, copy):
    """Say which of two pictures stand in a screenshot, pixel for pixel."""
    views = np.lib.stride_tricks.sliding_window_view(shot[..., 0], (1, 6))[:, :, 0]

    def stands(picture):
        hits = np.argwhere((views == picture[0, :6, 0]).all(axis=-1))
        height, width = picture.shape[:2]
        return any(np.array_equal(shot[y : y + height, x : x + width], picture) for y, x in hits)

    both = [stands(original), stands(copy)]
    return {(True, True): "both", (True, False): "original", (False, True): "copy"}.get(
        tuple(both), "nothing"
    )


def test_a_picture_larger_than_the_window_is_cut_and_can_be_moved_never_made_smaller(tmp_path, browser):
    port = free_port()
    plan = study_in(tmp_path, port, count=1, size=(900, 700), more=("--protocol", "slider"))
    server = Server(tmp_path, port)
    try:
        context = browser.new_context(viewport={"width": 600, "height": 500})
        robot = ByKeyboard(context, plan["links"]["annabel"], 3, 9)
        place = robot.place()
        robot.wait_for("#notice", re.compile("larger than the window"))
        name = robot.ladders[place]["pictures"][0].split("/picture/")[1]
        picture = np.asarray(Image.open(io.BytesIO(robot.bodies[name])))
        high = robot.page.evaluate("document.getElementById('stage').height")

        def shown():
            return np.asarray(Image.open(io.BytesIO(robot.page.screenshot())).convert("RGB"))[:high]

        top = (700 - high) // 2
        assert any(np.array_equal(shown(), picture[top + d : top + d + high, 150:750]) for d in (0, 1))
        for _ in range(5):
            robot.page.keyboard.press("Shift+ArrowRight")
        robot.page.wait_for_timeout(100)
        assert any(np.array_equal(shown(), picture[top + d : top + d + high, 300:900]) for d in (0, 1))
        robot.point(robot.step_of(place, 0) or 1)
        robot.page.wait_for_timeout(500)
        (row,) = Lake.open(tmp_path / "lake").read("readings").to_pylist()
        assert (row["shown_width"], row["shown_height"]) == (600, high)
    finally:
        server.kill()


@pytest.mark.long
def test_fifty_people_read_at_once_from_one_server(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    import httpx

    port = free_port()
    study_in(tmp_path, port)
    names = [f"reader{number}" for number in range(50)]
    words = [word for name in names for word in ("--add", name)]
    links = json.loads(
        told(tmp_path, "study", "readers", "study", *words, "--url", f"http://127.0.0.1:{port}", "--json")
    )["links"]
    server = Server(tmp_path, port)
    screen = {
        "shown_width": 120,
        "shown_height": 90,
        "pixel_ratio": 1,
        "zoom": 1,
        "distance_cm": None,
        "seconds": 3,
    }

    def read(name):
        with httpx.Client(follow_redirects=True, timeout=60) as client:
            client.get(links[name])
            state = client.get(f"http://127.0.0.1:{port}/api/state").json()
            for place in (1, 2):
                ladder = client.get(f"http://127.0.0.1:{port}/api/ladder/{place}").json()
                for path in ladder["pictures"]:
                    assert client.get(f"http://127.0.0.1:{port}{path}").status_code == 200
                body = {"slot": place, "after": -1, "perceptible": None, "screen": screen}
                kept = client.post(
                    f"http://127.0.0.1:{port}/api/mark", json=body, headers={"x-form": state["form"]}
                )
                assert kept.status_code == 200, kept.text
            return client.get(f"http://127.0.0.1:{port}/api/state").json()["at"]

    try:
        with ThreadPoolExecutor(50) as pool:
            assert set(pool.map(read, names)) == {3}
    finally:
        server.kill()
    rows = Lake.open(tmp_path / "lake").read("readings").to_pylist()
    assert len(rows) == 100
