"""A profile becomes one exact command and its environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inference.serving.profiles import CPU, GPU, SERVED_NAME, choose_profile, serve_command, serve_environment

PYTHON, MODEL = Path("/engine/bin/python"), Path("/models/small")


def command_of(profile: object, **changes: object) -> list[str]:
    return serve_command(replace(profile, **changes), python=PYTHON, model=MODEL, port=8100)


def value_of(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def test_a_machine_without_a_gpu_gets_the_cpu_profile_with_its_cores() -> None:
    profile = choose_profile(has_gpu=False, cores=2)
    assert (profile.device, profile.threads) == ("cpu", 2)


def test_many_cores_are_not_all_taken() -> None:
    assert choose_profile(has_gpu=False, cores=64).threads == 8


def test_a_machine_with_a_gpu_gets_the_gpu_profile() -> None:
    assert choose_profile(has_gpu=True, cores=2) is GPU


def test_the_server_listens_on_loopback_only_under_the_name_that_clients_ask_for() -> None:
    command = command_of(CPU)
    assert command[:3] == [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server"]
    assert value_of(command, "--host") == "127.0.0.1"
    assert value_of(command, "--port") == "8100"
    assert value_of(command, "--model") == str(MODEL)
    assert value_of(command, "--served-model-name") == SERVED_NAME


def test_chat_can_go_before_background_work_on_every_device() -> None:
    for profile in (CPU, GPU):
        assert value_of(command_of(profile), "--scheduling-policy") == "priority"


def test_only_a_compiled_profile_leaves_out_enforce_eager() -> None:
    assert "--enforce-eager" in command_of(CPU, compiled=False)
    assert "--enforce-eager" not in command_of(CPU, compiled=True)


def test_the_cpu_runs_in_one_process_and_the_gpu_takes_its_share_of_memory() -> None:
    assert value_of(command_of(CPU), "--distributed-executor-backend") == "uni"
    assert "--distributed-executor-backend" not in command_of(GPU)
    assert value_of(command_of(GPU, gpu_memory_share=0.5), "--gpu-memory-utilization") == "0.5"


def test_the_cpu_environment_bounds_threads_and_cache() -> None:
    environment = serve_environment(replace(CPU, threads=3, kv_cache_gib=2))
    assert environment["OMP_NUM_THREADS"] == "3"
    assert environment["VLLM_CPU_KVCACHE_SPACE"] == "2"


def test_no_profile_calls_home() -> None:
    for profile in (CPU, GPU):
        environment = serve_environment(profile)
        assert environment["HF_HUB_OFFLINE"] == environment["VLLM_NO_USAGE_STATS"] == environment["DO_NOT_TRACK"] == "1"
