"""Wire bodies as real clients send them, full of what the generic form has no place for."""

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

ANTHROPIC = {
    "everything": {
        "model": "claude-x",
        "max_tokens": 4096,
        "system": [
            {"type": "text", "text": "You plan trips."},
            {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ],
        "thinking": {"type": "adaptive"},
        "metadata": {"user_id": "u-17"},
        "stop_sequences": ["</done>"],
        "tools": [
            {"name": "weather", "description": "Tells it", "input_schema": SCHEMA, "strict": True},
            {
                "type": "custom",
                "name": "hotels",
                "input_schema": SCHEMA,
                "cache_control": {"type": "ephemeral"},
                "defer_loading": True,
            },
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Where is this?"},
                    {"type": "image", "source": PNG},
                    {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}, "title": "A"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Paris, I think", "signature": "c2lnbmF0dXJl"},
                    {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
                    {"type": "text", "text": "Paris. "},
                    {"type": "text", "text": "Let me look."},
                    {
                        "type": "tool_use",
                        "id": "toolu_1",
                        "name": "weather",
                        "input": {"city": "Paris"},
                        "caller": {"type": "direct"},
                    },
                    {"type": "tool_use", "id": "toolu_2", "name": "hotels", "input": {"city": "Paris"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "sunny"}, {"type": "image", "source": PNG}],
                        "cache_control": {"type": "ephemeral"},
                    },
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no rooms", "is_error": True},
                    {"type": "text", "text": "And the news?"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Paris"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [{"type": "web_search_result", "url": "https://example.org", "title": "N"}],
                    },
                    {
                        "type": "text",
                        "text": "A fair.",
                        "citations": [{"type": "char_location", "cited_text": "fair", "document_index": 0}],
                    },
                ],
            },
            {"role": "system", "content": [{"type": "text", "text": "The user is in Lyon now."}]},
            {"role": "user", "content": [{"type": "hologram", "depth": 3}, {"type": "text", "text": "So?"}]},
        ],
    },
    "plain": {
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "one block"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "one block too"}]},
            {"role": "user", "content": []},
            {"role": "assistant", "content": []},
            {"role": "user", "content": ""},
        ],
    },
    "results": {
        "system": "",
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "b", "content": [], "is_error": False}],
            },
            {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c", "name": "f", "input": {}},
                    {"type": "text", "text": "after"},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "before"},
                    {"type": "tool_result", "tool_use_id": "c", "content": "1"},
                    {"type": "mystery", "of": "life"},
                ],
            },
        ],
    },
    "blocks alone": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "compaction", "content": "so far", "signature": "s", "tool_changes": []}],
            },
            {"role": "user", "content": [{"type": "image", "source": PNG}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "t"}]},
        ],
        "tool_choice": {"type": "tool", "name": "f"},
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
        "temperature": None,
    },
}

CHAT = {
    "everything": {
        "model": "gpt-x",
        "temperature": 0.5,
        "max_tokens": 100,
        "max_completion_tokens": 200,
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
        "stop": ["END"],
        "tools": [
            {
                "type": "function",
                "function": {"name": "weather", "description": "Tells it", "parameters": SCHEMA, "strict": True},
            },
            {"type": "function", "function": {"name": "now"}},
            {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}},
        ],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "now"}}]},
        },
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}], "name": "ops"},
            {
                "role": "user",
                "name": "ann",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO", "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                    {"type": "file", "file": {"file_id": "file-9"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "index": 0,
                        "function": {"name": "weather", "arguments": '{"city":"Paris"}'},
                    },
                    {"id": "call_2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": [{"type": "text", "text": "sunny"}, {"type": "text", "text": "warm"}],
            },
            {"role": "tool", "tool_call_id": "call_2", "content": "1", "name": "sql"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "It is"}, {"type": "text", "text": " warm."}],
                "annotations": [{"type": "url_citation", "url_citation": {"url": "https://example.org"}}],
                "audio": {"id": "audio_1"},
            },
            {"role": "user", "content": "And that?"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot say."}]},
            {"role": "assistant", "content": None, "refusal": "Neither that."},
            {"role": "system", "content": "Mind the time."},
            {"role": "user", "content": [{"type": "scent", "scent": "rose"}]},
        ],
    },
    "arguments": {
        "messages": [
            {"role": "system", "content": ""},
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{ "a" : 1 }'}},
                    {"id": "2", "type": "function", "function": {"name": "f", "arguments": ""}},
                    {"id": "3", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}},
                    {
                        "id": "4",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a": 1.0, "b": 1e2, "\\u00e9": "\\u00e9"}'},
                    },
                ],
            },
            *[{"role": "tool", "tool_call_id": str(n), "content": ""} for n in (1, 2, 3, 4)],
            {"role": "assistant", "content": "", "tool_calls": []},
        ],
        "tool_choice": "required",
    },
    "tools of one name": {
        "messages": [{"role": "user", "content": "x"}],
        "tools": [],
        "tool_choice": {"type": "custom", "custom": {"name": "sql"}},
        "max_tokens": 7,
    },
}

RESPONSES = {
    "text": {"model": "gpt-x", "input": "Hello there", "instructions": "Be brief.", "store": False},
    "everything": {
        "model": "gpt-x",
        "previous_response_id": "resp_0",
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high"},
        "text": {"format": {"type": "json_object"}},
        "truncation": "auto",
        "max_output_tokens": 99,
        "parallel_tool_calls": True,
        "tools": [
            {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True, "description": None},
            {"type": "function", "name": "now", "parameters": None},
            {
                "type": "custom",
                "name": "sql",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: A"},
            },
            {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}},
            {"type": "mcp", "server_label": "docs", "server_url": "https://example.org/mcp"},
            {
                "type": "namespace",
                "name": "trips",
                "tools": [{"type": "function", "name": "book", "parameters": SCHEMA}],
            },
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "now"}]},
        "input": [
            {"role": "developer", "content": [{"type": "input_text", "text": "Mind the time."}]},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"},
                    {"type": "input_file", "file_id": "file-9"},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "thought"}],
                "encrypted_content": "ZW5j",
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "phase": "commentary",
                "content": [
                    {
                        "type": "output_text",
                        "text": "Paris.",
                        "annotations": [{"type": "url_citation", "url": "https://example.org", "title": "P"}],
                    },
                    {"type": "refusal", "refusal": "No more."},
                ],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "weather",
                "arguments": '{"city":"Paris"}',
                "status": "completed",
            },
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "sql", "input": "select 1"},
            {
                "type": "function_call_output",
                "id": "fco_1",
                "call_id": "call_1",
                "output": [
                    {"type": "input_text", "text": "sunny"},
                    {"type": "input_image", "image_url": "https://example.org/p.png", "detail": "auto"},
                ],
            },
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "1"},
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "Paris"},
            },
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "server_label": "docs",
                "name": "find",
                "arguments": "{}",
                "output": "found it",
            },
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "Y29tcA=="},
            {"id": "msg_0"},
            {"type": "item_reference", "id": "rs_0"},
            {"type": "telepathy", "thought": "hm"},
            {"type": "reasoning", "id": "rs_2", "summary": []},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": ""},
        ],
    },
    "plain": {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "one part"}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
            },
            {"role": "assistant", "content": ""},
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{ }"},
            {"type": "function_call", "call_id": "2", "name": "f", "arguments": "[]"},
            {"type": "function_call_output", "call_id": "2", "output": []},
            {"type": "function_call_output", "call_id": "1", "output": '{"error": "x"}'},
        ],
        "instructions": "",
        "tool_choice": {"type": "function", "name": "f"},
    },
}

BODIES = [
    (dialect, name, body)
    for dialect, bodies in (("anthropic", ANTHROPIC), ("openai-chat", CHAT), ("openai-responses", RESPONSES))
    for name, body in bodies.items()
]
