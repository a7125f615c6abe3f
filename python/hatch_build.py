"""What pyproject.toml cannot say: the compiled files of a wheel, and for which machine they are.

SAFECOPY_STAGE is a folder as `make install` fills it (bin, lib, include, share), SAFECOPY_ARCH its
machine.
"""

import os
import pathlib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IN_PACKAGE = ("bin", "lib", "include")
NOT_INSTALLED = ("doc", "licenses")  # a wheel has its own places for these


class Build(BuildHookInterface):
    def initialize(self, version, build_data):
        if "SAFECOPY_STAGE" not in os.environ:
            raise RuntimeError("SAFECOPY_STAGE is not set: wheels are built by `make dist`, from C")
        stage = pathlib.Path(os.environ["SAFECOPY_STAGE"])
        build_data["tag"] = f"py3-none-manylinux_2_28_{os.environ['SAFECOPY_ARCH']}"
        build_data["pure_python"] = False
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            place = path.relative_to(stage)
            if place.parts[0] in IN_PACKAGE:
                build_data["force_include"][str(path)] = f"libsafecopy/{place}"
            elif place.parts[0] == "share" and place.parts[1] not in NOT_INSTALLED:
                build_data["shared_data"][str(path)] = str(place)
