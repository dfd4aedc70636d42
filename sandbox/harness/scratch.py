"""The scratch folder between cases: its size, and emptying it whatever an answer has left there."""

import os
import time

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(top, budget_s=5.0):
    """Removes everything below `top`. Returns False where something is left or time ran out.

    By descriptor, following no link, repairing modes. Folders are emptied by moving what they hold up to
    `top`, so that no depth is too deep.
    """
    deadline = time.monotonic() + budget_s
    moved = 0
    try:
        root = os.open(top, DIRECTORY)
    except OSError:
        return False
    try:
        while True:
            names = os.listdir(root)
            if not names:
                return True
            for name in names:
                if time.monotonic() > deadline:
                    return False
                if not _unlinked(name, root):
                    moved = _raise_contents(name, root, moved)
                    os.rmdir(name, dir_fd=root)
    except OSError:
        return False
    finally:
        os.close(root)


def _unlinked(name, folder):
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _raise_contents(name, root, moved):
    os.chmod(name, 0o700, dir_fd=root)
    folder = os.open(name, DIRECTORY, dir_fd=root)
    try:
        for inner in os.listdir(folder):
            if not _unlinked(inner, folder):
                os.chmod(inner, 0o700, dir_fd=folder)
                os.rename(inner, ".raised-%d" % moved, src_dir_fd=folder, dst_dir_fd=root)
                moved += 1
    finally:
        os.close(folder)
    return moved


def exceeds(top, limit_bytes, budget_s=0.2):
    """Whether the files below `top` take more than `limit_bytes` of disk."""
    deadline = time.monotonic() + budget_s
    total, waiting = 0, [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if total > limit_bytes or time.monotonic() > deadline:
                        return total > limit_bytes
        except OSError:
            continue
    return total > limit_bytes
