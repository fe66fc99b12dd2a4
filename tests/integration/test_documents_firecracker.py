"""The document about microVMs, with QEMU where there is no KVM."""

import microvm
from documents import read


def test_providers_firecracker():
    folder = microvm.files()
    read("docs/providers/firecracker.md", lambda dev: {"/srv/vm": folder}, start=False,
         HODEI_FC_KERNEL_PATH=folder / "vmlinux", HODEI_FC_ROOTFS_PATH=folder / "rootfs.ext4")
