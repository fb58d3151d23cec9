"""The widget of Jupyter: its traits, its messages, and the page in its frame."""

import os
import sys

import pytest

import gemu

pytest.importorskip("anywidget")
from gemu import widget  # noqa: E402


@pytest.fixture
def result(module, x, y):
    return module.saxpy[4, 32](100, 2.0, x, y, record="all")


class Sent(list):
    """Collects the messages of a widget."""

    def __init__(self, player):
        player.send = lambda content, buffers=None: self.append((content, buffers))


@pytest.fixture
def command(monkeypatch, tmp_path):
    """A command gemu that writes a page with its arguments."""
    program = tmp_path / "gemu"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write(' '.join(sys.argv[1:-1]))\n")
    program.chmod(0o755)
    monkeypatch.setattr(widget, "_command", lambda: str(program))
    widget._page_of.cache_clear()
    yield program
    widget._page_of.cache_clear()


@pytest.mark.skipif(os.name == "nt", reason="the command is a script")
def test_player(result, command):
    player = gemu.Player(result, result.recording, names=["first", "second"], height=400)
    assert player.recordings == [result.recording._data] * 2 and player.names == ["first", "second"] and player.step == 0
    sent = Sent(player)
    player._answer(None, {"gemu": "page"}, [])
    player._answer(None, "nonsense", [])
    player.next()
    player.previous_split()
    (content, [page]), *rest = sent
    assert content == {"gemu": "page"} and page.startswith(b"play /") and page.endswith(b"run.gemu --single")
    assert rest == [({"gemu": "next"}, None), ({"gemu": "previous-split"}, None)]
    player = gemu.Player.program("text")
    sent = Sent(player)
    player._answer(None, {"gemu": "page"}, [])
    assert sent == [({"gemu": "page"}, [b"play --single"])]
    command.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no engine')\n")
    widget._page_of.cache_clear()
    player._answer(None, {"gemu": "page"}, [])
    assert "no engine" in sent[1][0]["message"]
    with pytest.raises(TypeError, match="want a Result"):
        gemu.Player(3)
    with pytest.raises(ValueError, match="launch with record"):
        gemu.Player(gemu.Result(0, 0, 0, 0, 0, 0))


def test_missing_command(result, monkeypatch):
    monkeypatch.setattr(widget, "_command", lambda: None)
    widget._page_of.cache_clear()
    player = gemu.Player(result)
    sent = Sent(player)
    player._answer(None, {"gemu": "page"}, [])
    assert sent[0][0]["gemu"] == "error" and "neither next to Python nor on the path" in sent[0][0]["message"]


@pytest.mark.skipif(widget._command() is None, reason="there is no command gemu")
def test_page_of_the_command(result):
    widget._page_of.cache_clear()
    assert b"gemu-player" in widget._page_of(result.recording._data)


def test_program():
    from conftest import PTX

    player = gemu.Player.program(PTX, "saxpy", 4, (32,), ["100", "2", "f32[100]", "f32[100]"], ["stack", "its:8"])
    assert player.request["grid"] == [4, 1, 1] and player.request["block"] == [32, 1, 1] and player.policies == ["stack", "its:8"]
    assert player.recordings == []
