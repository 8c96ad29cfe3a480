#pragma once

namespace gnnbench {

/// Tells an OpenBLAS that is loaded later, with the first plugin that links it, which kernels this processor's instructions
/// allow, unless OPENBLAS_CORETYPE is set: it knows processors by their model numbers, and takes one that is younger than
/// itself for one without AVX (docs/decisions/blas-processor.md). Before this process has threads.
void name_blas_processor();

/// Takes that back, for programs that this process starts: they have libraries of their own.
void forget_blas_processor();

}  // namespace gnnbench
