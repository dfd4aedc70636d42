"""Arms: engine, launcher, serve settings, speculation and sampling of one pinned configuration."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from armgate.model.base import Frozen, Json, Name
from armgate.model.pins import Pins
from armgate.model.redaction import names_a_credential
from armgate.model.references import Reference

EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$")]
ContainerPath = Annotated[str, StringConstraints(pattern=r"^/[^:]*[^:/]$")]
Port = Annotated[int, Field(ge=1, le=65535)]
SettingName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


OWN_PLACES = frozenset(
    {
        "HOME", "TMPDIR", "XDG_CACHE_HOME", "VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
        "FLASHINFER_WORKSPACE_BASE",
    }
)  # fmt: skip
"""Set anew for each boot, since boots never share compile caches across arms."""

OWN_OPTIONS = frozenset(
    {
        "method", "model", "revision", "num_speculative_tokens", "speculative_algorithm",
        "speculative_draft_model_path", "speculative_draft_model_revision", "speculative_num_draft_tokens",
        "speculative_num_steps",
    }
)  # fmt: skip
"""What engines are told from `method`, `draft` and `depth`: an option of that name would run another arm."""


def _declarable(name: str) -> str:
    if names_a_credential(name):
        raise ValueError("a credential is never written into a campaign; name its variable in pass_env")
    if name in OWN_PLACES:
        raise ValueError("set anew for each boot, so that no two arms share it; it cannot be declared")
    return name


def _not_our_own(name: str) -> str:
    if name in OWN_OPTIONS:
        raise ValueError("follows from method, draft and depth, and cannot be an option beside them")
    return name


DeclaredEnvName = Annotated[EnvName, AfterValidator(_declarable)]
OptionName = Annotated[SettingName, AfterValidator(_not_our_own)]


class ProcessLauncher(Frozen):
    """A program started on this machine. `python` is the engine environment's interpreter."""

    kind: Literal["process"]
    python: str
    preload: tuple[str, ...] = ()
    """Library name patterns to LD_PRELOAD, searched in the engine's environment, then the system's."""
    env: dict[DeclaredEnvName, str] = {}
    pass_env: tuple[EnvName, ...] = ()
    """Variables whose values come from Armgate's own environment and are never recorded."""
    port: Port | None = None
    """A free one is drawn where none is given. A given one is refused while anything listens on it."""


class ContainerLauncher(Frozen):
    """A container from a pinned image. `image` names an image pin of the campaign."""

    kind: Literal["container"]
    image: Name
    nodes: Annotated[int, Field(ge=1)] = 1
    host: Annotated[str, StringConstraints(pattern=r"^(unix|ssh|tcp)://")] | None = None
    """The Docker engine; `DOCKER_HOST` or the usual socket where none is given."""
    address: str | None = None
    """Where a remote host's ports can be reached from here; the host of `host` where none is given."""
    python: str = "python3"
    """The engine's interpreter inside the image."""
    env: dict[DeclaredEnvName, str] = {}
    pass_env: tuple[EnvName, ...] = ()
    """Variables whose values come from Armgate's own environment and are never recorded."""
    mounts: dict[ContainerPath, str] = {}
    """Further folders of the Docker host, read-only: path inside -> path outside."""
    gpus: Literal["all"] | tuple[str, ...] = ()
    network: Literal["host", "bridge"] = "host"
    shm_mib: Annotated[int, Field(ge=64)] = 1024
    port: Port | None = None


class AttachLauncher(Frozen):
    """A server that someone else booted: never started, restarted, flushed or tuned by Armgate."""

    kind: Literal["attach"]
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^@\s]+$")]
    """With or without a trailing `/v1`."""
    model: str | None = None
    """The id that the server offers the target under; needed where it offers more than one."""
    api_key_file: str | None = None
    api_key_env: EnvName | None = None


Launcher: TypeAlias = Annotated[
    ProcessLauncher | ContainerLauncher | AttachLauncher, Field(discriminator="kind")
]


class Speculative(Frozen):
    """vLLM's terms: `depth` = draft tokens proposed per step, without the bonus token."""

    method: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
    depth: Annotated[int, Field(ge=1, le=64)]
    draft: Name | None = None
    options: dict[OptionName, Json] = {}


class Sampling(Frozen):
    """Sampling parameters. Every one that the engine accepts is sent, so that no server default decides.

    The defaults are greedy and neutral. `seed: null` sends no seed.
    """

    temperature: Annotated[float, Field(ge=0)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Annotated[int, Field(ge=-1)] = 0
    min_p: Annotated[float, Field(ge=0, le=1)] = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: Annotated[float, Field(gt=0)] = 1.0
    seed: int | None = 37


class Deadlines(Frozen):
    """Seconds. None of them is a retry: what exceeds one is recorded as what it was.

    `start_s` bounds the making of a process or container, `ready_s` the way from there to the first token,
    `log_silence_s` a start that neither says nor moves anything, `boot_s` a boot as a whole.
    """

    start_s: Annotated[float, Field(gt=0)] = 120.0
    ready_s: Annotated[float, Field(gt=0)] = 900.0
    log_silence_s: Annotated[float, Field(gt=0)] = 600.0
    first_byte_s: Annotated[float, Field(gt=0)] = 600.0
    silence_s: Annotated[float, Field(gt=0)] = 120.0
    request_s: Annotated[float, Field(gt=0)] = 3600.0
    stop_s: Annotated[float, Field(gt=0)] = 60.0
    boot_s: Annotated[float, Field(gt=0)] = 86_400.0
    """Of a whole boot, from its start to the end of its last gate."""


class Boots(Frozen):
    """Boots beyond an arm's first; the plan counts each."""

    replicates: Annotated[int, Field(ge=0, le=16)] = 0
    """More boots of this arm, each with the whole ladder."""
    teacher_forcing: bool = False
    """One more boot of this arm's reference, in which its tokens are replayed as a prompt: whether the
    reference would have said them too, each after the tokens before it."""
    final: bool = False
    """If this arm is chosen, it is booted once more and has to pass the whole ladder again."""


class ArmSettings(Frozen):
    """What `defaults` may say and an arm may override; resolved into an `Arm`."""

    engine: str | None = None
    launcher: Launcher | None = None
    target: Name | None = None
    tokenizer: Name | None = None
    chat_template: Name | None = None
    packages: Name | None = None
    serve: dict[SettingName, Json] | None = None
    speculative: Speculative | None = None
    sampling: Sampling | None = None
    thinking: Literal["on", "off", "as_served"] | None = None
    chat_template_kwargs: dict[str, Json] | None = None
    modalities: tuple[str, ...] | None = None
    storage: dict[str, str] | None = None
    deadlines: Deadlines | None = None
    memory_floor_mib: Annotated[int, Field(ge=0)] | None = None
    reset_prefix_cache: bool | None = None
    boots: Boots | None = None
    reference: Name | None = None
    """The arm that this one's losslessness is judged against; naming itself means its own repeat."""
    says: str | None = None


DEEP_KEYS = frozenset({"serve", "sampling", "storage", "deadlines", "chat_template_kwargs", "launcher"})
"""Settings whose mappings are merged key by key when an arm overrides the defaults."""


WINDOW_SETTINGS = ("max_model_len", "context_length", "ctx_size", "n_ctx", "max_seq_len")
"""The setting of the context's length in vLLM, SGLang, llama.cpp, llama-cpp-python and TensorRT-LLM."""


class Arm(Frozen):
    """One resolved arm: every setting that it will be booted and probed with."""

    name: Name
    engine: str
    launcher: Launcher
    target: Name
    tokenizer: Name | None = None
    chat_template: Name | None = None
    packages: Name | None = None
    serve: dict[SettingName, Json] = {}
    speculative: Speculative | None = None
    sampling: Sampling = Sampling()
    thinking: Literal["on", "off", "as_served"] = "as_served"
    chat_template_kwargs: dict[str, Json] = {}
    modalities: tuple[str, ...] = ("text",)
    storage: dict[str, str] = {}
    deadlines: Deadlines = Deadlines()
    memory_floor_mib: Annotated[int, Field(ge=0)] = 256
    """A boot is ended before less of the host's memory is available; 0 watches nothing."""
    reset_prefix_cache: bool = False
    """Empty the prefix cache before each gate; a gate before which that fails is not sent."""
    boots: Boots = Boots()
    reference: Name
    says: str | None = None

    @model_validator(mode="after")
    def _flushes_only_its_own_server(self) -> Arm:
        if self.reset_prefix_cache and self.launcher.kind == "attach":
            raise ValueError("reset_prefix_cache on an attached server, which is never flushed")
        return self

    @property
    def depth(self) -> int:
        """Draft tokens proposed per step; 0 without speculation."""
        return self.speculative.depth if self.speculative else 0

    @property
    def window_tokens(self) -> int | None:
        """The context that the serve settings promise, in whatever the engine calls it."""
        found = (self.serve.get(name) for name in WINDOW_SETTINGS)
        return next((value for value in found if type(value) is int), None)

    @property
    def template_switches(self) -> dict[str, Json]:
        """What every request of this arm hands to the chat template."""
        switches = dict(self.chat_template_kwargs)
        if self.thinking != "as_served":
            switches.setdefault("enable_thinking", self.thinking == "on")
        return switches


Metric = Literal["decode_wall", "decode_span", "end_to_end", "ttft"]
"""Figures of speed gates that arms can be ranked by."""


class Campaign(Frozen):
    """The declarative file. `arms` keeps its order; the reference boots first."""

    schema_: Literal["armgate/campaign/v1"] = Field(alias="schema")
    name: Name
    says: str | None = None
    reference: Name
    pins: Pins
    defaults: ArmSettings = ArmSettings()
    arms: dict[Name, ArmSettings] = Field(min_length=1)
    ladder: str
    metric: Metric = "decode_wall"
    """What decides between qualified arms; declared before the first boot, like every threshold."""
    require_verified: bool = False
    references: tuple[Reference, ...] = ()
    """Other people's results, shown beside the arms and never ranked among them."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Of the whole campaign: what it cuts off is on file as not done, and can be resumed."""

    @model_validator(mode="after")
    def _reference_is_an_arm(self) -> Campaign:
        if self.reference not in self.arms:
            raise ValueError(f"reference {self.reference!r} is not one of the arms: {', '.join(self.arms)}")
        return self
