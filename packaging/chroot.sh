#!/bin/bash
# SPDX-License-Identifier: MIT
# chroot.sh RECIPE FOLDER - runs the steps of a Containerfile in chroots within FOLDER, for machines
# where no builder of containers works.  Needs root, debootstrap and the mirror of Debian.
#
# Every FROM begins with Debian bookworm in place of its image; an image *-devel-* of CUDA has the
# machine's own CUDA (environment CUDA, default: /usr/local/cuda) at /usr/local/cuda.  ENTRYPOINT
# is not run.  ARCHITECTURES="90": compute capabilities in place of the recipe's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -ne 2 ] || [ "$(id -u)" -ne 0 ]; then
    sed -n 's/^# //;3,8p' packaging/chroot.sh
    exit 2
fi
recipe=$1
mkdir -p "$2"
folder=$(realpath "$2")
stage=

unmount_all() {
    local place
    awk -v f="$folder/" 'index($2, f) == 1 { print $2 }' /proc/mounts | sort -r |
        while read -r place; do umount "$place"; done
}
trap unmount_all EXIT

from() { # IMAGE [as NAME]
    stage=$folder/$(basename "$recipe")-${3-last}
    [ -d "$folder/base" ] || debootstrap --variant=minbase bookworm "$folder/base" >"$folder/base.log"
    rm -rf --one-file-system "$stage"
    cp -a "$folder/base" "$stage"
    cp /etc/resolv.conf "$stage/etc/"
    mount -t proc proc "$stage/proc"
    mount --bind /dev "$stage/dev"
    path=/usr/sbin:/usr/bin:/sbin:/bin
    case $1 in
    *cuda*-devel-*)
        mkdir -p "$stage/usr/local/cuda"
        mount --bind -o ro "$(realpath "${CUDA:-/usr/local/cuda}")" "$stage/usr/local/cuda"
        path=/usr/local/cuda/bin:$path
        ;;
    esac
}

copy() { # [--from=STAGE] FILE... PLACE
    local place=$stage${*: -1} source=
    mkdir -p "$place"
    case $1 in
    --from=*)
        source=$folder/$(basename "$recipe")-${1#--from=}
        set +f
        # shellcheck disable=SC2086 # a pattern
        cp $source$2 "$place"
        ;;
    .) git ls-files -z | tar -c --null -T - | tar -x --no-same-owner -C "$place" ;;
    esac
}

run() { # COMMAND
    local command=$1
    if [ -n "${ARCHITECTURES-}" ]; then
        command=$(sed -E "s/(CMAKE_CUDA_ARCHITECTURES=)\"[^\"]*\"/\1\"$ARCHITECTURES\"/" <<<"$command")
    fi
    env -i PATH="$path" HOME=/root "${arguments[@]}" chroot "$stage" sh -ec "$command" </dev/null
}

arguments=()
# One instruction a line; the lines go to a descriptor of their own.
while read -r word rest <&3; do
    case $word in
    FROM)
        unmount_all
        arguments=()
        # shellcheck disable=SC2086 # several words
        from $rest
        ;;
    ARG) arguments+=("$rest") ;;
    COPY)
        # shellcheck disable=SC2086 # several words
        (set -f && copy $rest)
        ;;
    RUN)
        echo "+ ${stage##*/}: $rest"
        run "$rest"
        ;;
    '' | '#'* | ENTRYPOINT) ;;
    *)
        echo "$recipe: chroot.sh does not know $word"
        exit 1
        ;;
    esac
done 3< <(sed -e ':a' -e '/\\$/{N;s/\\\n */ /;ba' -e '}' "$recipe")
echo "$recipe: every step works in chroots"
