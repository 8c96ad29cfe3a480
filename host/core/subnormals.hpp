#pragma once

namespace gnnbench {

/// From now on numbers below the smallest normal one (1.2e-38 in float32) count as 0 on this thread and on all that it starts,
/// as operands and as results, where the processor can do that. A GPU computes with them as fast as with others, a CPU up to
/// a hundred times slower (docs/decisions/subnormal-numbers.md).
void flush_subnormals();

}  // namespace gnnbench
