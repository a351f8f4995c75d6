"""The rows of the rules on what is beside the conversation: tools (T), strict schemas (S), fields of the body (B)."""

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.rule import Rule

_A: Dialect = "anthropic"

REQUEST_RULES = (
    Rule(
        "T1",
        None,
        "a tool is defined in the form of its dialect: Anthropic {name, input_schema}, OpenAI Chat {type: function, "
        "function: {name, parameters}}, OpenAI Responses {type: function, name, parameters}",
        "",
        "both specifications",
        "specified",
        "write the tool in the form of this dialect",
    ),
    Rule(
        "T2",
        None,
        "a tool of the caller has a name; in Anthropic it has an input_schema, in OpenAI Responses the key parameters "
        "(a should, since only the types say so)",
        "Missing required parameter: 'tools[7].name'",
        "both specifications; the text: diegosouzapw/OmniRoute#2692",
        "specified",
        "add the field",
    ),
    Rule(
        "T3",
        None,
        "the schema of a tool is an object; an input_schema of Anthropic has the type object at the top (OpenAI is "
        "only reported to want it too: a should)",
        "",
        "both specifications; OpenAI: ag2ai/ag2#2985",
        "specified",
        "wrap the arguments in a schema of type object",
    ),
    Rule(
        "T4",
        None,
        "tool_choice has the form of its dialect: Anthropic an object of type auto, any, tool or none; OpenAI none, "
        "auto, required, or an object whose name stands in function (Chat) or beside the type (Responses)",
        "",
        "both specifications; types of the SDKs anthropic 2.14 and openai 3.57",
        "specified",
        "write the choice in the form of this dialect",
    ),
    Rule(
        "T5",
        None,
        "a tool that tool_choice names is among the tools",
        "",
        "what the providers answer is not known",
        "unverified",
        "offer the tool, or choose one that is offered",
    ),
    Rule(
        "T6",
        None,
        "a request without tools has no tool_choice, and no switch for parallel calls",
        "'tool_choice' is only allowed when 'tools' are specified.",
        "writer/writer-framework#1013, of another server of OpenAI's dialect; ayunis-core/ayunis-core#813 says the "
        "same of Anthropic; the switch, in OpenAI Chat: openai/swarm#30",
        "reported",
        "send the tools, or leave the field out",
    ),
    Rule(
        "S1",
        None,
        "with strict true, every object of the schema has additionalProperties false",
        "'additionalProperties' is required to be supplied and to be false.",
        "docs, Strict tool use; the text, of OpenAI: bytedance/trae-agent#173",
        "documented",
        "add additionalProperties: false to this object, or leave strict out",
    ),
    Rule(
        "S2",
        None,
        "with strict true, OpenAI wants every property of an object in its required",
        "'required' is required to be supplied and to be an array including every key in properties.",
        "ash-project/ash_ai#155, laravel/ai#506",
        "reported",
        "name every property in required, and give the optional ones a type that allows null",
    ),
    Rule(
        "S3",
        _A,
        "with strict true, a schema for Anthropic is not recursive and has no external $ref, no oneOf, no limit of "
        "numbers, lengths or arrays (but minItems 0 or 1), no object or array as a value of enum; other keywords that "
        "are not in the list of what is supported are a should",
        "",
        "docs, Structured outputs; anthropic SDK 2.14, lib/_parse/_transform.py",
        "documented",
        "say it in the description; anthropic.transform_schema moves it there. Check the arguments in your own code",
    ),
    Rule(
        "B1",
        _A,
        "a request has max_tokens, a whole number",
        "",
        "Anthropic's specification",
        "specified",
        "add max_tokens: the most tokens that the answer may have",
    ),
    Rule(
        "B2",
        _A,
        "a request has no temperature, top_p or top_k, under the API version 2026-10-21 that SDK 2 sends",
        "",
        "anthropic SDK 2.14, which has them no more; the versioning page, read in an excerpt",
        "sdk",
        "leave the field out",
    ),
    Rule(
        "B3",
        _A,
        "a conversation does not end with an assistant message (a prefill), for Claude 4.6 and later",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        "docs; router-for-me/CLIProxyAPI#5319 tried it with four models",
        "documented",
        "end with a user message; say there how the answer shall begin",
    ),
    Rule(
        "B4",
        _A,
        "the switch for parallel calls is tool_choice.disable_parallel_tool_use, not a field of the request",
        "",
        "Anthropic's specification",
        "specified",
        "write tool_choice: {type: auto, disable_parallel_tool_use: true}",
    ),
    Rule(
        "B5",
        _A,
        "thinking is not of type enabled, for Claude 4.7 and later",
        "",
        "docs",
        "documented",
        "write thinking: {type: adaptive}",
    ),
    Rule(
        "B6",
        None,
        "a request has at least one message",
        "messages: at least one message is required",
        "OpenAI's specification, for Chat; Anthropic: langgenius/dify#25953; OpenAI Responses: not verified, a should",
        "specified",
        "put the task into a user message",
    ),
    Rule(
        "B7",
        _A,
        "a user's text has no citations, and no document stands directly in an assistant message, under the API "
        "version 2026-10-21 that SDK 2 sends",
        "",
        "the versioning page, read in an excerpt",
        "documented",
        "leave the citations out; put the document into a user message",
    ),
    Rule(
        "B8",
        _A,
        "no call is forced (any, tool) on Claude Sonnet 5.5 and Mythos Preview",
        "",
        "docs; for Sonnet 5.5 the overview page, read in an excerpt",
        "documented",
        "use tool_choice auto, and say in the task which tool to call",
    ),
    Rule(
        "B9",
        None,
        "a request names its model (in OpenAI Responses the specification lets it be left out, and a stored prompt may "
        "name it: a should)",
        "",
        "both specifications",
        "specified",
        "add the field model, with the name of a model of this provider",
    ),
    Rule(
        "B10",
        None,
        "no field of the request is another dialect's",
        "max_completion_tokens: Extra inputs are not permitted; Unknown parameter: 'max_output_tokens'; "
        "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'",
        "Anthropic's specification refuses every other field; OpenAI's takes any, and the API does not: "
        "kwaroran/Risuai#1102, teabranch/open-responses-server#41, cline/cline#5419",
        "reported",
        "write the field of this dialect",
    ),
    Rule(
        "B11",
        None,
        "the most tokens of output are a whole number, in OpenAI Responses 16 at least",
        "",
        "OpenAI's specification",
        "specified",
        "write a whole number that is large enough for an answer, or leave the field out",
    ),
)
