"""The rows of the rules on the fields and parts of a message (M)."""

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.rule import Rule

_C: Dialect = "openai-chat"
_R: Dialect = "openai-responses"

MESSAGE_RULES = (
    Rule(
        "M1",
        None,
        "every message has a role that the dialect knows, and every part the fields that its kind cannot do without",
        "",
        "both specifications",
        "specified",
        "mend this part; the rest was checked without it",
    ),
    Rule(
        "M2",
        None,
        "no text holds half a surrogate pair (A9 in the other dialects: such text has no UTF-8, so it cannot be sent)",
        "",
        "RFC 8259, section 8.2; the SDKs raise UnicodeEncodeError before they send",
        "sdk",
        "replace the half pair by U+FFFD; cut text between characters, not between UTF-16 units",
    ),
    Rule(
        "M3",
        _C,
        "the content of a tool message is text, or one or more parts of type text",
        "",
        "OpenAI's specification",
        "specified",
        "say the result in text; give an image to the model in a user message",
    ),
    Rule(
        "M4",
        None,
        "a message of Anthropic has the fields role and content alone; an item of OpenAI Responses has no null where "
        "its specification takes none (a should, since what the API does then is not known)",
        "messages.0.name: Extra inputs are not permitted",
        "both specifications; the text: microsoft/autogen#3034",
        "specified",
        "send role and content alone; what a reply says beside them stays in your own log",
    ),
    Rule(
        "M5",
        _R,
        "a part is of a type that its place takes: input_text, input_image, input_file of a user and in an output, "
        "output_text and refusal of the assistant (an input type of the assistant is only reported to be refused: a "
        "should)",
        "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', ...",
        "OpenAI's specification; MervinPraison/PraisonAI#3934, WordPress/php-ai-client#182",
        "specified",
        "write the part with the type of its place, or the whole content as text",
    ),
    Rule(
        "M6",
        None,
        "nothing that is said is empty: in Anthropic no text block, and no content but that of an assistant's message "
        "at the end; in OpenAI Chat no list of parts or of calls",
        "all messages must have non-empty content except for the optional final assistant message",
        "both specifications; whole contents: anthropics/claude-code#6774, langchain-ai/langchain#35504; an empty list "
        "of calls: openai/openai-node#1341",
        "reported",
        "leave the empty part out, or say something in it",
    ),
)
