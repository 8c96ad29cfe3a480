#!/usr/bin/env bash
# Each fault of emulated_faults is found, in these words, and nothing is found where it is mended.
# usage: faults.sh PROGRAM MPIEXEC [asan], of a program that sanitizers watch in the emulator's place
set -euo pipefail
program="$1" mpiexec="$2" finder="${3:-emulated device}"
export GNNBENCH_EMULATED_DEVICES=2 GNNBENCH_EMULATED_BYTES=$((1 << 34))

declare -A words=(
    [pool_too_early]='is freed or returned to a pool before the host knows that a kernel .*copy_kernel'
    [returned]='reads 4 bytes at .*, which no block of device memory has, in .*copy_kernel'
    [beyond_lent]='writes 4 bytes at .*, which no block of device memory has, in .*beyond_kernel'
    [library_beyond]='cublasGemmEx reads 32 bytes at .*, which no block of device memory has'
    [source_changes]='the source of cudaMemcpyAsync changed before the copy had ended'
    [recorded_too_early]='copy_kernel.*, without order to a (read|write) by a kernel .*copy_kernel'
    [freed_too_early]='is freed or returned to a pool before the host knows that a kernel .*copy_kernel'
    [read_before_written]='copy_kernel.* reads device memory .* that nothing has written'
    [missing_wait]='is written by ncclRecv in stream 1, without order to a read by a kernel .*copy_kernel|is read by a kernel .*copy_kernel.*, without order to a write by ncclRecv'
    [received_too_early]='is written by ncclRecv in stream 1, without order to a read by a kernel .*copy_kernel|is read by a kernel .*copy_kernel.*, without order to a write by ncclRecv'
    [sent_buffer_changes]='is written by cudaMemsetAsync in stream 0, without order to a read by ncclSend|is read by ncclSend in stream 1, without order to a write by cudaMemsetAsync'
    [two_orders]='ncclAllReduce waits for rank [01], which waits for this rank in another call, a collective of another communicator'
    [group_left_early]='waits for rank [01], which waits for this rank in another call'
    [communicator_left_early]='ncclAllReduce waits for rank 1, which has left the communicator|a communicator ends in which rank 0 waits'
    [different_calls]='of [0-9]* bytes by rank [01] meets another call by rank [01]'
    [different_sizes]='of [0-9]* bytes meets one of [0-9]* bytes of rank'
    [column_sum]='shared memory .*: thread [0-9]* of block 0 .* it, and thread .* of block 0 .* in the same interval, in .*column_sum_kernel'
    [warp_reduction]='shared memory .* in .*warp_reduction_kernel'
    [combine]='device memory .*: thread 0 of block [01] wrote it, and thread 0 of block [01] .*, in .*combine_kernel'
    [tail]='device memory .*: thread [0-9]* of block 0 .* it, and thread .* writes it in the same interval, in .*tail_kernel'
    [pack]='8 bytes at .* are accessed at once and are not aligned, in .*pack_kernel'
    [beyond]='writes 4 bytes at .*, which no block of device memory has, in .*beyond_kernel'
    [wide]='writes 4 bytes at .*, which no block of device memory has, in .*wide_kernel'
)

# reported WORDS: what was said on standard input is a report with these words, in one line.
reported() { grep -Eq "$finder: .*($1)"; }

# They know of addresses alone, not of order. AddressSanitizer names the access below the first line of its report.
only_memory=0
if [[ $finder == asan ]]; then
    only_memory=1
    finder='(AddressSanitizer|runtime error)'
    reported() { tr '\n' ' ' | grep -Eq "$finder: .*($1)"; }
    words=(
        [returned]='use-after-poison .* READ of size 4 .* in .*copy_kernel'
        [beyond]='use-after-poison .* WRITE of size 4 .* in .*beyond_kernel'
        [beyond_lent]='use-after-poison .* WRITE of size 4 .* in .*beyond_kernel'
        [wide]='(SEGV|use-after-poison) .* in .*wide_kernel'
        [library_beyond]='use-after-poison .* READ of size 4 .* in .*gemm<float>'
        [shared_beyond]='store to address .* with insufficient space|global-buffer-overflow .* in .*shared_beyond_kernel'
        [source_too_short]='heap-buffer-overflow .* READ of size 256 .* in .*cudaMemcpyAsync'
    )
fi

failed=0
run() { # NAME RANKS [mended]
    if [[ $2 -eq 1 ]]; then
        "$program" "$1" ${3:+"$3"} 2>&1
    else
        "$mpiexec" -n "$2" "$program" "$1" ${3:+"$3"} 2>&1 </dev/null
    fi
}
wrong() { echo "$1:"$'\n'"$2" && failed=1; }

names="$("$program" || true)"
for name in "${!words[@]}"; do
    grep -q "^$name " <<<"$names" || wrong "$name" "there is no such fault"
done
while read -r name ranks; do
    [[ -n "${words[$name]:-}" || $only_memory -eq 1 ]] || wrong "$name" "no words are expected of it"
    # As late as the order allows, and at moments by chance; launches of several ranks take longer.
    for seed in 0 3; do
        [[ $seed -eq 0 || $ranks -eq 1 ]] || continue
        export GNNBENCH_EMULATED_SEED=$seed
        code=0
        if [[ -n "${words[$name]:-}" ]]; then
            said="$(run "$name" "$ranks")" || code=$?
            if [[ $code -eq 0 ]] || ! reported "${words[$name]}" <<<"$said"; then
                wrong "$name, seed $seed, ended with $code, and not with these words: ${words[$name]}" "$said"
            fi
        fi
        export GNNBENCH_EMULATED_SEED=3
        said="$(run "$name" "$ranks" mended)" || wrong "$name, mended, seed $seed, ended with $?" "$said"
        grep -q 'nothing found' <<<"$said" || wrong "$name, mended" "$said"
    done
done <<<"$names"
exit $failed
