"""Rules of order that types do not express: requests that each provider refuses with status 400."""

import json
import re


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def openai(messages):
    waiting = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message["role"] == "tool":
            check(message["tool_call_id"] in waiting, f"{where}: answers no call directly before it")
            waiting.remove(message["tool_call_id"])
            continue
        check(not waiting, f"{where}: calls {waiting} are not answered directly")
        calls = message.get("tool_calls", [])
        for call in calls:
            check(len(call["id"]) <= 40, f"{where}: long call id")
            check(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]), f"{where}: tool name")
            json.loads(call["function"]["arguments"])
        waiting = [call["id"] for call in calls]
        check(len(set(waiting)) == len(waiting), f"{where}: a call id twice")
        check(message.get("content") or calls, f"{where}: says nothing")
        if message["role"] != "user":
            check(not isinstance(message.get("content"), list), f"{where}: only users send parts")
    check(not waiting, f"calls {waiting} are never answered")


def responses(items):
    calls, outputs = {}, set()
    for index, item in enumerate(items):
        where = f"[{index}]"
        if item["type"] == "function_call":
            check(item["call_id"] not in calls, f"{where}: a call id twice")
            check(len(item["call_id"]) <= 64, f"{where}: long call id")
            calls[item["call_id"]] = index
            json.loads(item["arguments"])
        elif item["type"] == "function_call_output":
            check(item["call_id"] in calls, f"{where}: answers no call before it")
            check(item["call_id"] not in outputs, f"{where}: a second answer")
            outputs.add(item["call_id"])
        elif item["type"] == "reasoning":
            check(index + 1 < len(items), f"{where}: reasoning at the end")
            following = items[index + 1]
            check(
                following["type"] in ("reasoning", "function_call") or following.get("role") == "assistant",
                f"{where}: reasoning parted from what it led to",
            )
        else:
            check(item["content"], f"{where}: says nothing")
    check(set(calls) == outputs, "calls and outputs do not pair")


def anthropic(request):
    for block in request.get("system", []):
        check(block["text"].strip(), "a blank system block")
    messages = request["messages"]
    roles = [message["role"] for message in messages]
    check(not roles or roles[0] == "user", "the user does not begin")
    check(all(a != b for a, b in zip(roles, roles[1:])), "roles do not alternate")
    seen, waiting = set(), []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        blocks = message["content"]
        check(blocks, f"{where}: empty")
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        check(kinds[: len(results)] == ["tool_result"] * len(results), f"{where}: results are not first")
        check(sorted(results) == sorted(waiting), f"{where}: results {results} for calls {waiting}")
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for call in calls:
            check(call not in seen, f"{where}: a call id twice")
            check(re.fullmatch(r"[a-zA-Z0-9_-]+", call), f"{where}: call id")
            seen.add(call)
        waiting = calls
        allowed = {"text", "thinking", "redacted_thinking", "tool_use"}
        if message["role"] == "assistant":
            check(set(kinds) <= allowed, f"{where}: {kinds} from the assistant")
            check(kinds[-1] not in ("thinking", "redacted_thinking"), f"{where}: ends with a thought")
        else:
            check(not set(kinds) & (allowed - {"text"}), f"{where}: {kinds} from the user")
        for block in blocks:
            check(block["type"] != "text" or block["text"].strip(), f"{where}: a blank block")
            check(block["type"] != "tool_result" or not block.get("is_error") or block["content"], f"{where}: silent error")
            check(block["type"] != "tool_use" or isinstance(block["input"], dict), f"{where}: input")
            check(block["type"] != "thinking" or block["signature"], f"{where}: an unsigned thought")
    check(not waiting, "the last calls are not answered")
    if messages and messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1]
        check(last["type"] != "text" or last["text"] == last["text"].rstrip(), "white space at the very end")
    check(json.dumps(request).count('"cache_control"') <= 4, "too many cache marks")


def gemini(request):
    contents = request["contents"]
    roles = [content["role"] for content in contents]
    check(set(roles) <= {"user", "model"}, f"roles {set(roles)}")
    check(not roles or roles[0] == "user", "the user does not begin")
    check(all(a != b for a, b in zip(roles, roles[1:])), "roles do not alternate")
    waiting = []
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        parts = content["parts"]
        check(parts, f"{where}: empty")
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        check(all("functionResponse" in part for part in parts[: len(answers)]), f"{where}: responses are not first")
        pairs = [[(one["id"], one["name"]) for one in side] for side in (answers, waiting)]
        check(sorted(pairs[0]) == sorted(pairs[1]), f"{where}: responses {pairs[0]} for calls {pairs[1]}")
        waiting = [part["functionCall"] for part in parts if "functionCall" in part]
        for part in parts:
            kinds = {"text", "inlineData", "functionCall", "functionResponse"} & set(part)
            check(len(kinds) == 1, f"{where}: a part of {kinds}")
            check(part.get("thought") or part.get("text", "x").strip(), f"{where}: a blank part")
            if content["role"] == "user":
                check("functionCall" not in part and "thought" not in part, f"{where}: the user thinks or calls")
            else:
                check("functionResponse" not in part and "inlineData" not in part, f"{where}: the model answers")
    check(not waiting, "the last calls are not answered")
