"""Tests the MCP server with the official Python client: all tools, over stdio and HTTP, with both handshake versions.

Run by scripts/test-mcp with the path of the program. Prints one line per test and the number of passed tests.
"""

import asyncio
import base64
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import traceback

import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from PIL import Image

PROGRAM = sys.argv[1]
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"
NAMES = ["assess_image", "score_image", "compare_images", "find_regions", "list_tools"]
TOKEN = "the-token-of-the-test"

TESTS = []


def test(function):
    TESTS.append(function)
    return function


# Connections.


def stdio(*arguments, cwd=None, errors=None):
    environment = {"HOME": str(cwd or REPOSITORY), "PATH": os.environ["PATH"]}
    parameters = StdioServerParameters(
        command=PROGRAM, args=["mcp", *arguments], env=environment, cwd=str(cwd or REPOSITORY)
    )
    return stdio_client(parameters, errlog=errors or sys.stderr)


@contextlib.asynccontextmanager
async def server(*arguments, token=None):
    """Runs `agenticiqa serve` on a free port and yields its address."""
    with tempfile.TemporaryDirectory() as data:
        environment = {"HOME": data, "PATH": os.environ["PATH"]}
        if token:
            environment["AGENTICIQA_TOKEN"] = token
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            "serve",
            "--port",
            "0",
            "--data",
            data,
            *arguments,
            env=environment,
            cwd=data,
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            address = None
            while address is None:
                line = (await process.stderr.readline()).decode()
                assert line, "the server did not start"
                found = re.search(r"http://[0-9.]+:\d+", line)
                address = found and found.group()
            drain = asyncio.create_task(process.stderr.read())
            yield address
        finally:
            process.terminate()
            assert await asyncio.wait_for(process.wait(), 40) == 0, "the server ended badly"
            await drain


@contextlib.asynccontextmanager
async def connected(way, mode, *arguments, **options):
    """Yields a connected client. `way` is stdio or http."""
    if way == "stdio":
        async with Client(stdio(*arguments), mode=mode, **options) as client:
            yield client
    else:
        async with server(*arguments) as address, Client(f"{address}/mcp", mode=mode, **options) as client:
            yield client


# Checks of answers.


def pictures(result):
    """Returns the decoded images of an answer."""
    found = []
    for block in result.content:
        if isinstance(block, types.ImageContent):
            assert block.mime_type == "image/png"
            image = Image.open(io.BytesIO(base64.b64decode(block.data, validate=True)))
            image.load()
            assert image.format == "PNG" and max(image.size) <= 1024, image.size
            found.append(image)
    return found


async def call(client, name, arguments, **options):
    """Calls a tool that must succeed with an answer that matches its schema."""
    result = await client.call_tool(name, arguments, **options)
    assert not result.is_error, result.content
    assert isinstance(result.content[0], types.TextContent) and result.content[0].text
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    jsonschema.validate(result.structured_content, schemas[name])
    return result


async def refused(client, name, arguments):
    """Calls a tool that must fail, and returns its error message."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    return result.content[0].text


async def every_tool(client):
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.annotations.read_only_hint and len(tool.description) > 100
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description") or "$ref" in argument, f"{tool.name}.{name}"

    listed = await call(client, "list_tools", {"type": "FR"})
    assert {"SSIM", "PSNR", "Fused-FR"} <= {tool["name"] for tool in listed.structured_content["tools"]}

    scored = await call(
        client,
        "score_image",
        {
            "image": str(EXAMPLES / "osprey-compressed.jpg"),
            "reference": str(EXAMPLES / "osprey.jpg"),
            "map": "SSIM",
        },
    )
    scores = {row["tool"]: row for row in scored.structured_content["scores"]}
    assert 0 < scores["SSIM"]["raw_score"] < 1 and 1 <= scores["SSIM"]["score"] <= 5
    low, high = scored.structured_content["overall"]["interval"]
    assert low <= scored.structured_content["overall"]["score"] <= high
    assert len(pictures(scored)) == 1

    sent = base64.b64encode((EXAMPLES / "osprey.jpg").read_bytes()).decode()
    alone = await call(
        client,
        "score_image",
        {
            "image": f"data:image/jpeg;base64,{sent}",
            "tools": ["NIQE"],
            "regions": [{"name": "head", "x": 50, "y": 50, "width": 200, "height": 200}],
        },
    )
    assert [row["region"] for row in alone.structured_content["scores"]] == ["head"]

    heard = []

    async def hear(progress, total, message):
        heard.append((progress, message))

    assessed = await call(
        client,
        "assess_image",
        {
            "image": str(EXAMPLES / "osprey-blurred.jpg"),
            "query": "Is this image sharp?",
            "map": "Blur",
        },
        progress_callback=hear,
    )
    answer = assessed.structured_content
    assert answer["final_answer"] and answer["reasoning"] and 1 <= answer["quality_score"] <= 5
    assert any(found["type"] == "Blurs" for found in answer["distortions"]), answer["distortions"]
    assert answer["backends"] == ["builtin"] and len(pictures(assessed)) == 1
    steps = [progress for progress, _ in heard]
    assert len(steps) > 4 and steps == sorted(set(steps)), heard
    assert any("planner" in message for _, message in heard), heard

    compared = await call(
        client,
        "compare_images",
        {
            "images": [str(EXAMPLES / "osprey-blurred.jpg"), str(EXAMPLES / "osprey.jpg")],
        },
    )
    comparison = compared.structured_content["comparisons"][0]
    assert comparison["better"].endswith("osprey.jpg") and comparison["difference"] > 0.2
    assert isinstance(comparison["intervals_overlap"], bool) and len(pictures(compared)) == 1

    found = await call(client, "find_regions", {"image": str(EXAMPLES / "osprey.jpg"), "names": ["bird", "chandelier"]})
    bird, chandelier = found.structured_content["regions"]
    assert bird["origin"] == "detector" and bird["probability"] > 0.5
    assert chandelier["origin"] == "whole image"


async def every_error(client):
    """Invalid arguments are tool errors, unknown tools are protocol errors, and the server keeps working."""
    good = str(EXAMPLES / "osprey.jpg")
    for name, arguments, part in [
        ("score_image", {"image": "/etc/hostname"}, "outside of the allowed folders"),
        ("score_image", {"image": str(EXAMPLES / ".." / "README.md")}, "outside of the allowed folders"),
        ("score_image", {"image": good, "tool": "SSIM"}, "unknown field `tool`"),
        ("score_image", {"image": good, "tools": "SSIM"}, "tools: invalid type"),
        ("score_image", {"image": good, "tools": ["NONE"]}, "NONE"),
        ("score_image", {}, "image"),
        ("assess_image", {"image": good}, "query"),
        ("compare_images", {"images": [good]}, "two or more"),
        ("score_image", {"image": str(EXAMPLES / "LICENSES.md")}, "LICENSES.md"),
    ]:
        message = await refused(client, name, arguments)
        assert part in message, f"{name} {arguments}: {message}"
    assert "allow_roots" in await refused(client, "score_image", {"image": "/etc/hostname"})
    try:
        await client.call_tool("no_such_tool", {})
    except MCPError as error:
        assert "unknown tool" in str(error), error
    else:
        raise AssertionError("an unknown tool was called")
    await call(client, "list_tools", {})


for way in ("stdio", "http"):
    for mode in ("legacy", "2026-07-28"):

        async def tools_over(way=way, mode=mode):
            async with connected(way, mode, "--allow-root", str(EXAMPLES)) as client:
                await every_tool(client)

        tools_over.__name__ = f"every tool over {way}, {mode} handshake"
        test(tools_over)

    async def errors_over(way=way):
        async with connected(way, "auto", "--allow-root", str(EXAMPLES)) as client:
            await every_error(client)

    errors_over.__name__ = f"every error over {way}"
    test(errors_over)


@test
async def the_folders_of_the_client_are_respected():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(EXAMPLES / "osprey.jpg", folder)

        async def announce(context):
            return types.ListRootsResult(roots=[types.Root(uri=pathlib.Path(folder).resolve().as_uri())])

        async with Client(stdio(), mode="legacy", list_roots_callback=announce) as client:
            await call(client, "score_image", {"image": f"{folder}/osprey.jpg", "tools": ["Brightness"]})
            message = await refused(client, "score_image", {"image": str(EXAMPLES / "osprey.jpg")})
            assert "outside of the allowed folders" in message and folder in message, message


@test
async def without_folders_it_is_the_working_folder():
    async with Client(stdio(cwd=EXAMPLES), mode="auto") as client:
        await call(client, "score_image", {"image": "osprey.jpg", "tools": ["Brightness"]})
        assert "outside" in await refused(client, "score_image", {"image": str(REPOSITORY / "README.md")})
    async with Client(stdio(cwd=pathlib.Path("/")), mode="auto") as client:
        assert "allow_roots" in await refused(client, "score_image", {"image": str(EXAMPLES / "osprey.jpg")})


@test
async def standard_output_holds_messages_only_and_the_end_is_clean():
    """Every line of output is a message, also at log level debug. Closing standard input ends the program."""
    folder = tempfile.TemporaryDirectory()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        "--allow-root",
        str(EXAMPLES),
        "--log-level",
        "debug",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Answers with heat maps are longer than the default limit of a line.
        limit=1 << 24,
        env=os.environ | {"TMPDIR": folder.name},
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    arguments = {"image": "osprey.jpg", "query": "How good is it?"}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "assess_image", "arguments": arguments}},
    ]
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
    process.stdin.write(b"this is no message\n")
    errors = asyncio.create_task(process.stderr.read())
    answers = {}
    while 2 not in answers:
        line = await asyncio.wait_for(process.stdout.readline(), 120)
        assert line, "the program ended"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        answers[message.get("id")] = message
    assert answers[2]["result"]["structuredContent"]["quality_score"] > 1
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0
    assert await process.stdout.read() == b"" and b"event" in await errors
    assert not list(pathlib.Path(folder.name).iterdir()), "something was left behind"
    folder.cleanup()


async def cancelled(client):
    """A canceled call does not affect the next one."""
    noise = io.BytesIO()
    Image.frombytes("RGB", (1600, 1600), os.urandom(1600 * 1600 * 3)).save(noise, "PNG", compress_level=0)
    sent = base64.b64encode(noise.getvalue()).decode()
    task = asyncio.create_task(client.call_tool("score_image", {"image": sent, "all": True}))
    await asyncio.sleep(1.5)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    result = await asyncio.wait_for(
        client.call_tool("score_image", {"image": "osprey.jpg", "tools": ["Brightness"]}), 60
    )
    assert not result.is_error, result.content


for way in ("stdio", "http"):

    async def cancel_over(way=way):
        async with connected(way, "legacy", "--allow-root", str(EXAMPLES)) as client:
            await cancelled(client)

    cancel_over.__name__ = f"a call can be cancelled over {way}"
    test(cancel_over)


@test
async def over_http_the_token_is_asked_for():
    async with server("--allow-root", str(EXAMPLES), token=TOKEN) as address:
        connected_without = False
        try:
            async with Client(f"{address}/mcp", mode="legacy"):
                connected_without = True
        except Exception:
            pass
        assert not connected_without, "no token was asked for"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(f"{address}/mcp", http_client=http), mode="legacy") as client:
                await call(client, "list_tools", {})
            # DNS rebinding, and a request from another site.
            hello = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                },
            }
            accept = {"Accept": "application/json, text/event-stream"}
            for extra, status in [
                ({"Authorization": "Bearer wrong"}, 401),
                ({"Host": "evil.example"}, 421),
                ({"Origin": "http://evil.example"}, 403),
                ({}, 200),
            ]:
                answer = await http.post(f"{address}/mcp", json=hello, headers=accept | extra)
                assert answer.status_code == status, (extra, answer.status_code)


def main():
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed, failed = 0, 0
    for function in TESTS:
        name = function.__name__.replace("_", " ")
        if wanted not in name:
            continue
        try:
            asyncio.run(asyncio.wait_for(function(), 300))
            passed += 1
            print(f"ok      {name}", flush=True)
        except BaseException:
            failed += 1
            print(f"FAILED  {name}", flush=True)
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
