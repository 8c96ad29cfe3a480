#pragma once
#include <map>
#include <string>
#include <vector>

namespace gnnbench {

/// A table's remarks, of which those that differ in numbers alone become one with the range of each: "expectations ± 0.3%" and
/// "expectations ± 1.7%" are "expectations ± 0.3% to 1.7%". Numbers inside names ("cagnet-1d", "dgx-a100") tell them apart.
class AlikeRemarks {
public:
    void add(const std::string& remark);
    /// What stands for a remark that was added.
    std::string of(const std::string& remark) const;

private:
    struct Range {
        std::string least, most;
    };
    /// By text without its numbers: the range at each of their places.
    std::map<std::string, std::vector<Range>> ranges_;
};

}  // namespace gnnbench
