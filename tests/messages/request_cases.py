"""For each rule on tools, strict schemas and fields of a body, a request that breaks it and one that does not."""

from pairing_cases import PAIR, TASK, A, C, Case, R, assistant, flat, function, say, search, text, think, tool, user

OBJECT = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}
OPUS, HAIKU = "claude-opus-4-7", "claude-haiku-4-5"
PREFILL = [TASK, assistant(text("The answer is"))]


def of(dialect, *tools, **more):
    """A body of `dialect` with these tools."""
    conversation = {A: {"messages": PAIR}, C: {"messages": [say()]}, R: {"input": "x"}}[dialect]
    return {**conversation, "tools": list(tools), **more}


def nested(name="f", **more):
    return {"type": "function", "function": {"name": name, **more}}


def strict(dialect, schema):
    """A body whose one tool has this schema, and is strict."""
    wanted = {"name": "f", "strict": True}
    if dialect == A:
        return of(A, {**wanted, "input_schema": schema})
    inner = {**wanted, "parameters": schema}
    return of(C, {"type": "function", "function": inner}) if dialect == C else of(R, {"type": "function", **inner})


def inside(schema):
    """An object with this schema for its property."""
    return {**OBJECT, "properties": {"q": schema}}


def without(body, *keys):
    return {key: value for key, value in body.items() if key not in keys}


ASKED = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": PAIR}
RECURSIVE = {**inside({"$ref": "#/$defs/node"}), "$defs": {"node": inside({"$ref": "#/$defs/node"})}}
TWICE = {**inside({"$ref": "#/$defs/leaf"}), "$defs": {"leaf": {"type": "string"}, "twig": {"$ref": "#/$defs/leaf"}}}


def choosing(dialect, choice, *tools):
    offered = tools or ({A: tool("f"), C: function("f"), R: flat("f")}[dialect],)
    return of(dialect, *offered, tool_choice=choice)


def asked(dialect, **more):
    """A body of `dialect` that names its model."""
    return {**{A: ASKED, C: {"model": "m", "messages": [say()]}, R: {"model": "m", "input": "x"}}[dialect], **more}


REQUEST_CASES = [
    Case("T1", A, "a tool as OpenAI Chat has it", of(A, nested()), of(A, tool("f"))),
    Case("T1", A, "a tool as OpenAI Responses has it", of(A, flat("f")), of(A, tool("f", type="custom"))),
    Case("T1", A, "a schema under parameters", of(A, {"name": "f", "parameters": OBJECT}), of(A, tool("f", type=None))),
    Case(
        "T1", A, "a type that is a number", of(A, tool("f", type=5)), of(A, {"type": "bash_20250124", "name": "bash"})
    ),
    Case("T1", C, "a tool as Anthropic has it", of(C, tool("f")), of(C, function("f"))),
    Case("T1", C, "a tool as OpenAI Responses has it", of(C, flat("f")), of(C, nested())),
    Case("T1", C, "a definition without its type", of(C, {"function": {"name": "f"}}), of(C, nested())),
    Case(
        "T1",
        C,
        "a tool that OpenAI Chat does not run",
        of(C, {"type": "web_search"}),
        of(C, {"type": "custom", "custom": {"name": "f"}}),
    ),
    Case("T1", C, "a schema under input_schema", of(C, nested(input_schema=OBJECT)), of(C, nested(parameters=OBJECT))),
    Case("T1", R, "a tool as OpenAI Chat has it", of(R, nested()), of(R, flat("f"))),
    Case("T1", R, "a tool as Anthropic has it", of(R, tool("f")), of(R, {"type": "web_search"})),
    Case("T1", R, "a schema under input_schema", of(R, flat("f", input_schema=OBJECT)), of(R, flat("f"))),
    Case("T2", A, "a tool without a name", of(A, without(tool("f"), "name")), of(A, tool("f"))),
    Case("T2", A, "a name that is a number", of(A, tool(5)), of(A, tool("five"))),
    Case("T2", A, "a tool without a schema", of(A, {"name": "f"}), of(A, {"type": "web_search_20250305", "name": "f"})),
    Case("T2", C, "a function without a name", of(C, {"type": "function", "function": {}}), of(C, nested())),
    Case("T2", C, "a custom tool without a name", of(C, {"type": "custom", "custom": {}}), of(C)),
    Case("T2", R, "a function without a name", of(R, without(flat("f"), "name")), of(R, flat("f"))),
    Case(
        "T2",
        R,
        "a function without a name in a namespace",
        of(R, {"type": "namespace", "name": "n", "tools": [{"type": "function"}]}),
        of(R, {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}),
    ),
    Case("T2", R, "a function without a schema", of(R, without(flat("f"), "parameters")), of(R, flat("f")), "should"),
    Case("T3", A, "a schema without a type", of(A, tool("f", input_schema={})), of(A, tool("f"))),
    Case("T3", A, "a schema of a list", of(A, tool("f", input_schema={"type": "array"})), of(A, tool("f"))),
    Case("T3", A, "a schema that is text", of(A, tool("f", input_schema="{}")), of(A, tool("f", input_schema=OBJECT))),
    Case("T3", A, "a schema that is null", of(A, tool("f", input_schema=None)), of(A, tool("f"))),
    Case("T3", C, "a schema that is a list", of(C, nested(parameters=[])), of(C, nested(parameters={}))),
    Case("T3", C, "a schema that is null", of(C, nested(parameters=None)), of(C, nested())),
    Case("T3", R, "a schema that is text", of(R, flat("f", parameters="{}")), of(R, flat("f", parameters=None))),
    Case(
        "T3",
        R,
        "a schema of type null",
        of(R, flat("f", parameters={"type": "null"})),
        of(R, flat("f", parameters={"type": "object"})),
        "should",
    ),
    Case("T4", A, "a choice that is text", choosing(A, "auto"), choosing(A, {"type": "auto"})),
    Case("T4", A, "required", choosing(A, {"type": "required"}), choosing(A, {"type": "any"})),
    Case(
        "T4",
        A,
        "a choice as OpenAI Chat has it",
        choosing(A, {"type": "function", "function": {"name": "f"}}),
        choosing(A, {"type": "tool", "name": "f"}),
    ),
    Case("T4", A, "a choice of no tool", choosing(A, {"type": "tool"}), choosing(A, {"type": "none"})),
    Case("T4", C, "any", choosing(C, "any"), choosing(C, "required")),
    Case("T4", C, "a choice as Anthropic has it", choosing(C, {"type": "auto"}), choosing(C, "auto")),
    Case(
        "T4",
        C,
        "a choice as OpenAI Responses has it",
        choosing(C, {"type": "function", "name": "f"}),
        choosing(C, {"type": "function", "function": {"name": "f"}}),
    ),
    Case(
        "T4",
        C,
        "allowed tools beside the type",
        choosing(C, {"type": "allowed_tools", "mode": "auto", "tools": []}),
        choosing(C, {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [nested()]}}),
    ),
    Case(
        "T4",
        R,
        "a choice as OpenAI Chat has it",
        choosing(R, {"type": "function", "function": {"name": "f"}}),
        choosing(R, {"type": "function", "name": "f"}),
    ),
    Case("T4", R, "a choice as Anthropic has it", choosing(R, {"type": "tool", "name": "f"}), choosing(R, "none")),
    Case(
        "T4",
        R,
        "a choice of no server",
        choosing(R, {"type": "mcp"}),
        choosing(R, {"type": "mcp", "server_label": "s"}),
    ),
    Case(
        "T4",
        R,
        "allowed tools without a mode",
        choosing(R, {"type": "allowed_tools", "tools": []}),
        choosing(R, {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}),
    ),
    Case("T4", R, "a type that is not known", choosing(R, {"type": "tarot"}), choosing(R, {"type": "shell"}), "should"),
    Case(
        "T5",
        A,
        "a tool that is not offered",
        choosing(A, {"type": "tool", "name": "g"}),
        choosing(A, {"type": "tool", "name": "g"}, tool("f"), tool("g")),
        "should",
    ),
    Case(
        "T5",
        C,
        "a tool that is not offered",
        choosing(C, {"type": "function", "function": {"name": "g"}}),
        choosing(C, {"type": "custom", "custom": {"name": "g"}}, {"type": "custom", "custom": {"name": "g"}}),
        "should",
    ),
    Case(
        "T5",
        R,
        "an allowed tool that is not offered",
        choosing(R, {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]}),
        choosing(R, {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}),
        "should",
    ),
    Case(
        "T5",
        R,
        "a tool that is not offered",
        choosing(R, {"type": "function", "name": "g"}),
        choosing(R, {"type": "function", "name": "g"}, {"type": "namespace", "name": "n", "tools": [flat("g")]}),
        "should",
    ),
    Case(
        "T6",
        A,
        "a forced call without tools",
        {"messages": PAIR, "tool_choice": {"type": "any"}},
        {"messages": PAIR, "tool_choice": {"type": "any"}, "mcp_servers": [{"name": "m"}]},
        "should",
    ),
    Case("T6", C, "a forced call without tools", of(C, tool_choice="required"), choosing(C, "required"), "should"),
    Case("T6", C, "a choice without tools", of(C, tool_choice="auto"), choosing(C, "auto"), "should"),
    Case("T6", A, "a choice without tools", of(A, tool_choice={"type": "auto"}), of(A), "should"),
    Case(
        "T6",
        C,
        "the switch for parallel calls without tools",
        of(C, parallel_tool_calls=False),
        of(C, nested(), parallel_tool_calls=False),
        "should",
    ),
    Case(
        "T6",
        R,
        "a forced call without tools",
        {"input": "x", "tool_choice": {"type": "function", "name": "f"}},
        {"prompt": {"id": "p"}, "input": "x", "tool_choice": {"type": "function", "name": "f"}},
        "should",
    ),
    *[
        case
        for dialect in (A, C, R)
        for case in (
            Case(
                "S1",
                dialect,
                "an open object",
                strict(dialect, without(OBJECT, "additionalProperties")),
                strict(dialect, OBJECT),
            ),
            Case(
                "S1",
                dialect,
                "an open object in a list in a choice",
                strict(
                    dialect, inside({"anyOf": [{"type": "array", "items": {**OBJECT, "additionalProperties": {}}}]})
                ),
                strict(dialect, inside({"anyOf": [{"type": "array", "items": OBJECT}]})),
            ),
        )
    ],
    Case(
        "S2",
        C,
        "an optional property",
        strict(C, {**OBJECT, "required": []}),
        strict(C, inside({"type": ["string", "null"]})),
    ),
    Case("S2", R, "no required", strict(R, without(OBJECT, "required")), strict(R, OBJECT)),
    Case(
        "S3",
        A,
        "a minimum",
        strict(A, inside({"type": "integer", "minimum": 1})),
        strict(A, inside({"type": "integer"})),
    ),
    Case(
        "S3",
        A,
        "two items at least",
        strict(A, inside({"type": "array", "minItems": 2})),
        strict(A, inside({"type": "array", "minItems": 1})),
    ),
    Case("S3", A, "oneOf", strict(A, inside({"oneOf": [{}]})), strict(A, inside({"anyOf": [{}]}))),
    Case("S3", A, "an object in an enum", strict(A, inside({"enum": [{}]})), strict(A, inside({"enum": [1, None]}))),
    Case("S3", A, "a recursive schema", strict(A, RECURSIVE), strict(A, TWICE)),
    Case("S3", A, "a reference to the whole", strict(A, inside({"$ref": "#"})), strict(A, inside({"$ref": "#anchor"}))),
    Case(
        "S3",
        A,
        "a reference to elsewhere",
        strict(A, inside({"$ref": "https://example.org/s.json"})),
        strict(A, {**inside({"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": {"type": "string"}}}),
    ),
    Case(
        "S3",
        A,
        "a format that is not listed",
        strict(A, inside({"type": "string", "format": "regex"})),
        strict(A, inside({"type": "string", "format": "uuid"})),
        "should",
    ),
    Case(
        "S3",
        A,
        "a pattern that looks ahead",
        strict(A, inside({"type": "string", "pattern": "^(?=x)"})),
        strict(A, inside({"type": "string", "pattern": "^(x|y){2}$"})),
        "should",
    ),
    Case(
        "S3",
        A,
        "a keyword that is not listed",
        strict(A, inside({"type": "array", "uniqueItems": True})),
        strict(A, inside({"type": "array", "description": "uniqueItems"})),
        "should",
    ),
    Case("B1", A, "no max_tokens", without(ASKED, "max_tokens"), ASKED),
    *[
        Case(
            "B1",
            A,
            f"max_tokens {limit!r}",
            {**ASKED, "max_tokens": limit},
            {**ASKED, "max_tokens": 0},
            closer="write a",
        )
        for limit in ("1024", -1, 1.5, None)
    ],
    *[Case("B2", A, field, {**ASKED, field: 1}, {**ASKED, field: None}) for field in ("temperature", "top_p", "top_k")],
    Case("B3", A, "a prefill", {**ASKED, "model": OPUS, "messages": PREFILL}, {**ASKED, "messages": PREFILL}),
    Case("B3", A, "a prefill for any model", PREFILL, [*PREFILL, user(text())], "should"),
    Case(
        "B3",
        A,
        "a server's call that was answered, and text behind it",
        {**ASKED, "model": OPUS, "messages": [TASK, assistant(search(), text())]},
        {**ASKED, "model": OPUS, "messages": [TASK, assistant(text(), search())]},
        "should",
    ),
    Case(
        "B4",
        A,
        "the switch of OpenAI",
        {**ASKED, "parallel_tool_calls": False},
        {**of(A, tool("f")), "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    ),
    Case("B4", A, "the switch at the top", {**ASKED, "disable_parallel_tool_use": True}, ASKED),
    Case(
        "B5",
        A,
        "thinking that is enabled",
        {**ASKED, "model": OPUS, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {**ASKED, "thinking": {"type": "enabled", "budget_tokens": 1024}},
    ),
    Case(
        "B5",
        A,
        "thinking that is enabled for any model",
        {"messages": PAIR, "thinking": {"type": "enabled"}},
        {"messages": PAIR, "thinking": {"type": "adaptive"}},
        "should",
    ),
    Case("B6", A, "no messages", {**ASKED, "messages": []}, ASKED),
    Case("B6", A, "an empty list", [], PAIR),
    Case("B6", C, "no messages", {"messages": []}, {"messages": [say()]}),
    Case("B6", R, "no items", {"input": []}, {"input": [], "previous_response_id": "resp_1"}, "should"),
    Case(
        "B7",
        A,
        "citations of a user",
        [user({**text(), "citations": [{"type": "char_location"}]})],
        [TASK, assistant({**text(), "citations": [{"type": "char_location"}]}), user({**text(), "citations": []})],
    ),
    Case(
        "B7",
        A,
        "a document of the assistant",
        [TASK, assistant({"type": "document", "source": {}}), TASK],
        [user({"type": "document", "source": {}}), assistant(think(), text()), TASK],
    ),
    Case(
        "B8",
        A,
        "a forced call on Sonnet 5.5",
        {**choosing(A, {"type": "any"}), "model": "claude-sonnet-5-5", "max_tokens": 9},
        {**choosing(A, {"type": "auto"}), "model": "claude-sonnet-5-5", "max_tokens": 9},
    ),
    Case(
        "B8",
        A,
        "a forced call on Mythos Preview",
        {**choosing(A, {"type": "tool", "name": "f"}), "model": "claude-mythos-preview", "max_tokens": 9},
        {**choosing(A, {"type": "tool", "name": "f"}), "model": "claude-opus-5", "max_tokens": 9},
    ),
    Case("B9", A, "a model that is null", {**ASKED, "model": None}, ASKED),
    Case("B9", C, "a model that is a number", asked(C, model=5), asked(C)),
    *[
        Case(
            "B10",
            dialect,
            f"{field} in {dialect}",
            asked(dialect, **{field: "x"}),
            asked(dialect, **right),
            closer=named,
        )
        for dialect, field, named, right in (
            (A, "max_completion_tokens", "max_tokens", {}),
            (A, "max_output_tokens", "max_tokens", {}),
            (A, "instructions", "system", {"system": "x"}),
            (A, "input", "messages", {}),
            (A, "stop", "stop_sequences", {"stop_sequences": ["x"]}),
            (A, "user", "metadata", {"metadata": {"user_id": "x"}}),
            (A, "reasoning_effort", "output_config", {"output_config": {"effort": "low"}}),
            (C, "system", "role system", {}),
            (C, "instructions", "role system", {"system": None}),
            (C, "max_output_tokens", "max_completion_tokens", {"max_completion_tokens": 9}),
            (C, "input", "messages", {"max_tokens": 9}),
            (C, "stop_sequences", "stop", {"stop": "x"}),
            (C, "reasoning", "reasoning_effort", {"reasoning_effort": "low"}),
            (R, "messages", "input", {}),
            (R, "system", "instructions", {"instructions": "x"}),
            (R, "max_tokens", "max_output_tokens", {"max_output_tokens": 16}),
            (R, "max_completion_tokens", "max_output_tokens", {"max_output_tokens": None}),
            (R, "response_format", "text: {format", {"text": {"format": {"type": "text"}}}),
            (R, "stop", "no stop sequences", {}),
        )
    ],
    Case(
        "B11", R, "15 tokens", asked(R, max_output_tokens=15), asked(R, max_output_tokens=16), closer="write 16 or more"
    ),
    Case("B11", R, "a limit that is text", asked(R, max_output_tokens="16"), asked(R, max_output_tokens=None)),
    Case("B11", C, "a limit that is text", asked(C, max_completion_tokens="16"), asked(C, max_completion_tokens=1)),
    Case("M1", A, "a system prompt that is a number", {**ASKED, "system": 5}, {**ASKED, "system": [text("x")]}),
    Case("M1", A, "a system prompt that is null", {**ASKED, "system": None}, {**ASKED, "system": ""}),
    Case("M1", A, "a block of the system prompt without text", {**ASKED, "system": [{"type": "text"}]}, ASKED),
    Case("M1", R, "instructions that are a list", asked(R, instructions=["x"]), asked(R, instructions="x")),
    Case("M6", A, "an empty block of the system prompt", {**ASKED, "system": [text("")]}, {**ASKED, "system": []}),
]
