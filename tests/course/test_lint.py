import json

import pytest

from agentlab.course.clean import WIDGET_TEXT, WIDGET_VIEW
from agentlab.course.lint import LARGEST, RULES, lint

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

HF = "hf_" + "aB3" * 11


def markdown(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def code(source="x = 1", *outputs, count=1):
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "execution_count": count,
        "outputs": list(outputs) or [printed("1\n")],
    }


def printed(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(metadata=None, **data):
    data = {key.replace("_", "/"): value for key, value in data.items()}
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


TITLE = markdown("# A title\n\nTakes 5 minutes.")


def found(tmp_path, *cells, **metadata):
    path = tmp_path / "x.ipynb"
    metadata = {"kernelspec": {"name": "python3"}} | metadata
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return [(finding.rule, finding.where.removeprefix("x.ipynb").strip()) for finding in lint(path)]


GOOD = [
    [TITLE, code()],
    [TITLE, markdown("## A\n### B\n## C\n### D"), code()],
    [TITLE, markdown("```python\n# a comment, no heading\n```"), code()],
    [TITLE, markdown("![a rising curve](x.png)"), code()],
    [TITLE, code("x", shown(text_html='<img src="x" alt="a curve">'))],
    [TITLE, code("x", shown({"image/png": {"alt": "a curve"}}, image_png="AAAA"))],
    [TITLE, code(f"digest = '{SHA}'", printed(f"sha256:{SHA}\n"))],
    [TITLE, code("url = 'https://example.com/home/docs'  # see data/tmp/x, ../work/x and POST /v1/messages")],
    [TITLE, code("print('S:\\nU:\\n')", printed("a risk-of-something-that-is-long-enough\n"))],
    [TITLE, code("box", shown(text_plain=WIDGET_TEXT), printed("largest: 2\n"))],
    [TITLE, code("agent.interact('x')\ninteraction(1)")],
    [TITLE, code("import agents as w\nw.interact(1)\nplan.widgets.Output")],
    [TITLE, markdown("Some text\n\n---\n\n| a |\n|---|\n\n- one\n---\n\n    code\n    ===="), code()],
    [TITLE, markdown("The tag `<h1>` makes a title, and `===` too."), code()],
    [TITLE, markdown("A pip, then an install; pip is for seeds, and conda is a snake. Install nothing."), code()],
    [TITLE, code("words = ['pip', 'apple']; more = ['install']\nshelf_of_books_and_more_things = 'hf_short'")],
    [TITLE, code(), code("y", count=2), code("", count=None)],
    [TITLE, code("import os", count=1) | {"outputs": []}, code("y", count=2)],
    [TITLE, markdown("Install it with make lab; a pip is a seed."), code()],
    [TITLE],
]

BAD = [
    ("L02", "cell 2", [TITLE, code("w", printed("1"), shown(**{WIDGET_VIEW: {}}))]),
    ("L03", "cell 2", [TITLE, code("1/0", {"output_type": "error", "ename": "E", "evalue": "", "traceback": []})]),
    ("L04", "", [TITLE, markdown("# Another"), code()]),
    ("L04", "cell 1", [markdown("Takes 5 minutes."), markdown("# Late"), code()]),
    ("L04", "", [TITLE, markdown("Another\n====="), code()]),
    ("L04", "", [TITLE, markdown("Text\n\nAnother\n=\n"), code()]),
    ("L04", "", [TITLE, markdown("<h1>Another</h1>"), code()]),
    ("L04", "", [TITLE, markdown('Text <H1 class="x">Another</H1>'), code()]),
    ("L04", "", [TITLE, markdown("  # Another"), code()]),
    ("L05", "cell 2", [TITLE, markdown("### Deep"), code()]),
    ("L05", "cell 2", [TITLE, markdown("<h3>Deep</h3>"), code()]),
    ("L05", "cell 3", [TITLE, markdown("Second\n------"), markdown("#### D"), code()]),
    ("L05", "cell 3", [TITLE, markdown("## A"), markdown("#### D"), code()]),
    ("L06", "cell 2", [TITLE, markdown("![](x.png)"), code()]),
    ("L06", "cell 2", [TITLE, markdown("<img src='x'>"), code()]),
    ("L06", "cell 2", [TITLE, markdown('<img src="x" alt="">'), code()]),
    ("L06", "cell 2", [TITLE, code("x", shown(text_html="<IMG src='x'>"))]),
    ("L06", "cell 2", [TITLE, code("x", shown(image_png="AAAA"))]),
    ("L07", "cell 2", [TITLE, code("open('/home/ann/x')")]),
    ("L07", "cell 2", [TITLE, code("x", printed("File /tmp/ipykernel_1/2.py\n"))]),
    ("L07", "cell 2", [TITLE, code("x", shown(text_plain=["a\n", "/home/user/x"]))]),
    ("L07", "cell 2", [TITLE, code("x = r'C:\\Users\\ann'")]),
    ("L07", "cell 2", [TITLE, code("x = 'C:\\\\Users\\\\ann'")]),
    ("L07", "cell 2", [TITLE, markdown("[x](file:///etc/x)"), code()]),
    ("L08", "cell 2", [TITLE, code("%pip install x")]),
    ("L08", "cell 2", [TITLE, code("!pip3 install x")]),
    ("L08", "cell 2", [TITLE, markdown("Run `uv pip install x`."), code()]),
    ("L08", "cell 2", [TITLE, code("!pip -q install x")]),
    ("L08", "cell 2", [TITLE, code("!pip --proxy here -q install x")]),
    ("L08", "cell 2", [TITLE, code("!pip3.11 install x")]),
    ("L08", "cell 2", [TITLE, code("!python -m pip \\\n  install x")]),
    ("L08", "cell 2", [TITLE, code("run(['pip', 'install', 'x'])")]),
    ("L08", "cell 2", [TITLE, code('run(["pip","install"])')]),
    ("L08", "cell 2", [TITLE, code('run([python, "-m", "pip", "-q", "install", "x"])')]),
    ("L08", "cell 2", [TITLE, code("!apt-get -y install x")]),
    ("L08", "cell 2", [TITLE, code("!uv add x")]),
    ("L09", "cell 2", [TITLE, code("key = 'sk-" + "a1" * 12 + "'")]),
    ("L09", "cell 2", [TITLE, code("x", printed("sk-ant-" + "api03-" + "x" * 20))]),
    ("L09", "cell 2", [TITLE, code("x", shown(application_json={"k": ["AKIA" + "A1" * 8]}))]),
    ("L09", "cell 2", [TITLE, code("k = 'ghp_" + "a" * 36 + "'")]),
    ("L09", "cell 2", [TITLE, code(f"k = '{HF}'")]),
    ("L09", "cell 2", [TITLE, code() | {"metadata": {"note": {"token": HF}}}]),
    ("L09", "cell 2", [TITLE, code() | {"metadata": {HF: 1}}]),
    ("L09", "cell 2", [TITLE, markdown("## A") | {"attachments": {"a.txt": {"text/plain": [HF]}}}, code()]),
    ("L09", "cell 2", [TITLE, code("x", shown({"note": HF}, text_plain="x"))]),
    ("L10", "", [TITLE, code("x", printed("x" * LARGEST))]),
    ("L11", "", [TITLE, code() | {"outputs": []}]),
    ("L11", "cell 2", [TITLE, code(count=None)]),
    ("L11", "cell 3", [TITLE, code(), code(count=3)]),
    ("L12", "cell 2", [TITLE, code("interact(f, n=3)")]),
    ("L12", "cell 2", [TITLE, code("widgets.interactive_output(f, {})")]),
    ("L12", "cell 2", [TITLE, code("@interact_manual (n=3)\ndef f(n): pass")]),
    ("L12", "cell 2", [TITLE, code("out = widgets.Output()")]),
    ("L12", "cell 2", [TITLE, code("from ipywidgets import HBox, Output")]),
    ("L12", "cell 2", [TITLE, code("import ipywidgets as w\nw.interact(f, n=3)")]),
    (
        "L12",
        "cell 3",
        [TITLE, code("import ipywidgets as w"), code("@w.interact_manual(n=3)\ndef f(n): pass", count=2)],
    ),
    ("L12", "cell 2", [TITLE, code("from ipywidgets import widgets as w\nout = w.Output()")]),
    ("L12", "cell 2", [TITLE, code("import ipywidgets\nipywidgets.interact(f)")]),
    ("L12", "cell 2", [TITLE, code("show = widgets.interact\nshow(f)")]),
    ("L12", "cell 2", [TITLE, code("from ipywidgets import (\n    HBox,\n    Output,\n)")]),
    ("L12", "cell 2", [TITLE, code("from ipywidgets.widgets import interact as play")]),
    ("L12", "cell 2", [TITLE, code("from ipywidgets import *")]),
    ("L12", "cell 2", [TITLE, code("interact.options(manual=True)(f)")]),
    ("L13", "cell 2", [TITLE, code("box", shown(text_plain=[WIDGET_TEXT])), code("y", count=2)]),
    ("L14", "cell 1", [markdown("# A title"), code()]),
]


@pytest.mark.parametrize("cells", GOOD)
def test_a_good_notebook_has_no_finding(tmp_path, cells):
    assert found(tmp_path, *cells) == []


@pytest.mark.parametrize(("rule", "where", "cells"), BAD)
def test_each_fault_is_found_by_its_rule_alone_at_its_place(tmp_path, rule, where, cells):
    assert found(tmp_path, *cells) == [(rule, where)]


def test_another_kernel_and_stored_widget_state_are_found_in_the_metadata(tmp_path):
    assert found(tmp_path, TITLE, code(), kernelspec={"name": "my-env"}) == [("L01", "")]
    assert found(tmp_path, TITLE, code(), widgets={}) == [("L02", "")]
    assert found(tmp_path, TITLE, code(), note={"token": [HF, 1]}) == [("L09", "")]


@pytest.mark.parametrize("spec", ["x", "python3", None, 5, [], {}, {"name": ["python3"]}])
def test_a_kernel_spec_of_any_form_but_the_right_one_is_a_finding(tmp_path, spec):
    assert found(tmp_path, TITLE, code(), kernelspec=spec) == [("L01", "")]


@pytest.mark.parametrize(
    "output",
    [
        shown(text_html=5),
        shown(text_html=["a", 5]),
        shown(text_plain={"a": 1}),
        shown(text_markdown=None),
        shown(text_html="x") | {"data": "x"},
        shown(text_html="x") | {"data": None},
        shown(text_html="x") | {"metadata": [1]},
        shown({"image/png": "x"}, image_png="AAAA"),
        "x",
        5,
    ],
)
def test_an_output_of_another_form_is_one_finding(tmp_path, output):
    assert [rule for rule, _ in found(tmp_path, TITLE, code("x", output))] == ["L00"]


@pytest.mark.parametrize("depth", [500, 900, 100_000])
def test_deep_data_is_read_or_refused_and_never_a_crash(tmp_path, depth):
    path = tmp_path / "x.ipynb"
    deep = "[" * depth + f'"{HF}"' + "]" * depth
    cell = json.dumps(code("x", shown(application_json="HERE"))).replace('"HERE"', deep)
    path.write_text(f'{{"cells": [{json.dumps(TITLE)}, {cell}], "metadata": {{"kernelspec": {{"name": "python3"}}}}}}')
    assert {finding.rule for finding in lint(path)} in ({"L00"}, {"L09"}, {"L09", "L10"})


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cells": 1, "metadata": {}}', '{"cells": [1], "metadata": {}}']
)
def test_a_file_that_is_no_notebook_is_one_finding(tmp_path, text):
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    assert [finding.rule for finding in lint(path)] == ["L00"]
    assert [finding.rule for finding in lint(tmp_path / "none.ipynb")] == ["L00"]


def test_a_key_is_not_repeated_in_its_finding(tmp_path):
    path = tmp_path / "x.ipynb"
    secret = "ghp_" + "b" * 36
    path.write_text(
        json.dumps({"cells": [TITLE, code(f"k = '{secret}'")], "metadata": {"kernelspec": {"name": "python3"}}})
    )
    (finding,) = lint(path)
    assert secret not in finding.message


def test_the_table_in_the_docstring_names_every_rule():
    from agentlab.course import lint as module

    assert all(f"| {rule.id} |" in module.__doc__ for rule in RULES)
    assert {rule for rule, _, _ in BAD} | {"L01"} == {rule.id for rule in RULES}


@pytest.mark.parametrize("kind", ["notebooks", "exercises", "solutions"])
def test_a_built_notebook_passes_the_lint(built, kind):
    assert lint(built / kind / "02_doubling.ipynb") == []
