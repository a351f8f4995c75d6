"""Exercise 01.2 looks into nested objects too: those that are right pass, and the hints name their fields by place."""

import pytest

from agentlab.course.exercises.lesson_01_schema import check_own_tool


def tool(*, kind="object", required=("city",), city=None):
    address = {
        "type": kind,
        "description": "Where it is sent.",
        "properties": {"city": city or {"type": "string", "description": "The city."}},
        "required": list(required),
        "additionalProperties": False,
    }
    parameters = {
        "type": "object",
        "properties": {"address": address},
        "required": ["address"],
        "additionalProperties": False,
    }
    return {"name": "label_print", "description": "Print one label for a parcel.", "parameters": parameters}


@pytest.mark.parametrize("kind", ["object", ["object", "null"]])
def test_a_nested_object_may_be_nullable(kind):
    said = check_own_tool(tool(kind=kind), {"address": {"city": "Bonn"}}, {"address": {"city": 1}})
    assert "no field is optional" in said


def test_a_hint_names_an_optional_field_by_its_place():
    said = check_own_tool(tool(required=()), {"address": {}}, {"address": {"city": 1}})
    assert "make address.city nullable" in said


def test_a_hint_names_a_limit_that_stands_in_a_nested_field():
    city = {"type": "string", "maxLength": 40, "description": "The city."}
    said = check_own_tool(tool(city=city), {"address": {"city": "Bonn"}}, {"address": {"city": "B" * 41}})
    assert "Anthropic's strict mode refuses maxLength" in said
