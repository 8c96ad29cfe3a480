#pragma once
#include <gnnbench/verbs/attention.hpp>
#include <gnnbench/verbs/dense.hpp>
#include <gnnbench/verbs/dynamic_attention.hpp>
#include <gnnbench/verbs/elementwise.hpp>
#include <gnnbench/verbs/loss.hpp>
#include <gnnbench/verbs/optimizer.hpp>
#include <gnnbench/verbs/rows.hpp>
#include <gnnbench/verbs/sparse.hpp>

/// All verbs of back ends. Each is a struct of its operands in namespace verb, which also says
///     phase, operation()   how its time is recorded,
///     check()              throws LogicError where shapes do not fit,
///     empty()              whether it has nothing to do,
///     operands()           the matrices that it reads and writes.
/// The class of its group has the function that callers use. Decorators, which forward what they do not change, follow
/// from the list.

/// X(V) for each struct verb::V that multiplies: with members c, s and e, its result, Scale and Epilogue.
#define GNNBENCH_EACH_PRODUCT(X) GNNBENCH_SPARSE_VERBS(X) GNNBENCH_DENSE_VERBS(X)

/// X(V) for each struct verb::V.
#define GNNBENCH_EACH_VERB(X)           \
    GNNBENCH_EACH_PRODUCT(X)            \
    GNNBENCH_ATTENTION_VERBS(X)         \
    GNNBENCH_DYNAMIC_ATTENTION_VERBS(X) \
    GNNBENCH_ELEMENTWISE_VERBS(X)       \
    GNNBENCH_LOSS_VERBS(X)              \
    GNNBENCH_OPTIMIZER_VERBS(X)         \
    GNNBENCH_ROW_VERBS(X)

/// Declares, in a class that derives from Backend, that it performs every verb.
#define GNNBENCH_PERFORMS_VERB(V) void perform(const verb::V& v) override;
#define GNNBENCH_PERFORMS_EVERY_VERB GNNBENCH_EACH_VERB(GNNBENCH_PERFORMS_VERB)
