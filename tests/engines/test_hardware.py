from pathlib import Path

from armgate.engines.hardware import hardware
from armgate.engines.weights import weight_file_bytes


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_what_can_be_read_is_told_and_the_rest_is_unknown(tmp_path: Path) -> None:
    port = "sys/class/infiniband/rocep1s0f0/ports/1"
    root = written(
        tmp_path,
        {
            "proc/cpuinfo": "processor: 0\nmodel name\t: Cortex-X925\n",
            "proc/driver/nvidia/gpus/000f:01:00.0/information": "Model: \t\t NVIDIA GB10\nIRQ: 1\n",
            f"{port}/link_layer": "Ethernet\n",
            f"{port}/rate": "200 Gb/sec (4X HDR)\n",
        },
    )
    found = hardware(nodes=2, root=root)
    assert (found["processor"], found["accelerators"], found["nodes"]) == ("Cortex-X925", ["NVIDIA GB10"], 2)
    assert found["interconnect"] == [
        {"port": "rocep1s0f0/1", "layer": "Ethernet", "rate": "200 Gb/sec (4X HDR)", "state": "unknown"}
    ]
    assert (found["clock_max_khz"], found["clock_governor"]) == ("unknown", "unknown")


def test_what_the_driver_tells_goes_before_what_its_files_tell(tmp_path: Path) -> None:
    told = {"driver": "580.95.05", "gpus": []}
    assert hardware(told, root=tmp_path)["accelerators"] == told


def test_a_device_without_a_readable_driver_is_unknown_and_none_is_none(tmp_path: Path) -> None:
    assert hardware(root=tmp_path)["accelerators"] == []
    assert hardware(root=written(tmp_path, {"dev/nvidiactl": ""}))["accelerators"] == "unknown"


def test_only_files_that_hold_weights_are_weighed(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.safetensors": "1234", "deep/b.gguf": "12", "tokenizer.json": "123456"})
    assert weight_file_bytes(folder) == 6
