"""How vLLM is launched: a profile names everything, and becomes one exact command and its environment."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

# The name that clients ask for, whatever folder the model lies in.
SERVED_NAME = "smollm2-135m"


@dataclass(frozen=True, slots=True)
class ServingProfile:
    """`kv_cache_gib` is for the CPU only; on a GPU vLLM takes the share `gpu_memory_share`, 0 to 1."""

    name: str
    device: str
    max_model_len: int
    max_num_seqs: int
    # Torch's compiler makes tokens faster and the start slower, and needs a C++ compiler on the CPU. There it also
    # changes what an INT8 model says: asked for the capital of France, the compiled one loops in French (95 tokens/s,
    # start 65 s), the eager one says Paris (58 tokens/s, start 20 s).
    compiled: bool
    kv_cache_gib: int = 1
    gpu_memory_share: float = 0.85
    threads: int = 2


CPU = ServingProfile("cpu", device="cpu", max_model_len=4_096, max_num_seqs=32, compiled=False)
GPU = ServingProfile("gpu", device="cuda", max_model_len=8_192, max_num_seqs=128, compiled=True)


def choose_profile(*, has_gpu: bool, cores: int) -> ServingProfile:
    if has_gpu:
        return GPU
    return ServingProfile(
        CPU.name,
        device=CPU.device,
        max_model_len=CPU.max_model_len,
        max_num_seqs=CPU.max_num_seqs,
        compiled=CPU.compiled,
        threads=max(1, min(cores, 8)),
    )


def has_gpu() -> bool:
    """Whether an NVIDIA driver answers on this machine."""
    return shutil.which("nvidia-smi") is not None and Path("/dev/nvidiactl").exists()


def serve_command(profile: ServingProfile, *, python: Path, model: Path | str, port: int) -> list[str]:
    """The server listens on loopback only: it has no key."""
    command = [
        *(str(python), "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(model)),
        *("--served-model-name", SERVED_NAME),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", str(profile.max_model_len)),
        *("--max-num-seqs", str(profile.max_num_seqs)),
        # Chat goes before background work, by the `priority` of each request.
        *("--scheduling-policy", "priority"),
        "--enable-prefix-caching",
        # Otherwise the usage does not say what came from the prefix cache.
        "--enable-prompt-tokens-details",
    ]
    if not profile.compiled:
        command.append("--enforce-eager")
    if profile.device == "cpu":
        # The default executor is a process of its own that burns a core spinning.
        command += ["--distributed-executor-backend", "uni"]
    else:
        command += ["--gpu-memory-utilization", str(profile.gpu_memory_share)]
    return command


def serve_environment(profile: ServingProfile) -> dict[str, str]:
    """Beside the process's own environment."""
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if profile.device != "cpu":
        return quiet
    return quiet | {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_KVCACHE_SPACE": str(profile.kv_cache_gib),
        "OMP_NUM_THREADS": str(profile.threads),
        # A thread that waits gives its core back sooner: on two cores the web process needs it.
        "GOMP_SPINCOUNT": "2000",
    }
