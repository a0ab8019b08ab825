#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completion.sh QFZ - the script of `qfz completion bash` completes commands, options and choices.
set -u
qfz=$1
bad=0
script=$("$qfz" completion bash) || exit 1
eval "$script"

# complete_words WORDS...: completes the last of the words into COMPREPLY.  As in an interactive
# shell, --option=value is three words.
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _qfz
}

# completes WANTED WORDS...: the list has every word of WANTED; if WANTED is empty, so is the list.
completes() {
    local wanted=$1 word
    shift
    complete_words "$@"
    for word in $wanted; do
        [[ " ${COMPREPLY[*]} " == *" $word "* ]] && continue
        echo "WRONG: $*: '${COMPREPLY[*]}' has no $word"
        bad=1
    done
    [[ -n $wanted || ${#COMPREPLY[@]} -eq 0 ]] && return
    echo "WRONG: $*: '${COMPREPLY[*]}', expected nothing"
    bad=1
}

# lacks UNWANTED WORDS...: the list does not have the word UNWANTED.
lacks() {
    local unwanted=$1
    shift
    complete_words "$@"
    [[ " ${COMPREPLY[*]} " == *" $unwanted "* ]] || return 0
    echo "WRONG: $*: completes to $unwanted"
    bad=1
}

completes 'label simplify saliency cut curve regions check explore info run help completion' qfz ''
completes 'saliency' qfz sa
completes '--version -h' qfz -
completes 'simplify' qfz help simp
completes 'bash' qfz completion ''
completes '--alpha --background -j --co' qfz label -
completes '--omega' qfz simplify --om
completes 'auto cpu cuda' qfz label --engine ''
completes 'cuda' qfz label --engine = cu
completes 'auto cpu cuda' qfz label --engine =
completes '4 8' qfz saliency --connectivity ''
completes 'summarise stitch resolve' qfz run --phase ''
completes 'label cut curve' qfz run --phase stitch ''
completes '--layout' qfz run --phase stitch saliency --l
completes '' qfz label --mask ''
completes '' qfz label ''
lacks --omega qfz label --
lacks --generate qfz label --
lacks label qfz label l
exit $bad
