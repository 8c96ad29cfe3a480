#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gnnbench {

/// One fault that a check found.
struct Fault {
    std::string check;  ///< "spmm", "broadcast", "in-flight" …
    std::string text;   ///< where, value, expected, bound
};

/// Counts of one kind of check.
struct CheckCount {
    std::int64_t calls = 0, elements = 0;
    double worst_ratio = 0;  ///< |value − expected| / bound, the largest
    std::string worst;       ///< where that is
};

/// What was checked on one rank, and what was found. Keeps the first faults of each check and the number of all.
class Ledger {
public:
    explicit Ledger(int rank) : rank_(rank) {}

    int rank() const { return rank_; }
    /// The epoch named in faults from now on; −1: set-up.
    void enter_epoch(std::int64_t epoch) { epoch_ = epoch; }
    /// "rank 1, epoch 0"
    std::string place() const;

    CheckCount& count(std::string_view check);
    void add_fault(std::string_view check, std::string text);

    const std::map<std::string, CheckCount, std::less<>>& counts() const { return counts_; }
    const std::vector<Fault>& faults() const { return faults_; }
    std::int64_t fault_count() const { return fault_count_; }

private:
    int rank_;
    std::int64_t epoch_ = -1;
    std::map<std::string, CheckCount, std::less<>> counts_;
    std::map<std::string, int, std::less<>> kept_;
    std::vector<Fault> faults_;
    std::int64_t fault_count_ = 0;
};

/// The check of one call: compares element after element, and reports to the ledger when it ends.
class Judgement {
public:
    Judgement(Ledger& ledger, std::string_view check, std::string subject)
        : ledger_(&ledger), check_(check), subject_(std::move(subject)) {}
    /// For some elements of a call, on a thread of its own: reports nothing; the call's judgement takes it.
    Judgement() = default;
    void take(const Judgement& part);
    Judgement(const Judgement&) = delete;
    Judgement& operator=(const Judgement&) = delete;
    ~Judgement();

    /// |value − expected| ≤ bound. If `expected` is not finite, `value` must not be finite either.
    void near(std::int64_t row, std::int64_t col, double value, double expected, double bound);
    /// low ≤ value ≤ high.
    void within(std::int64_t row, std::int64_t col, double value, double low, double high);
    /// The same number, or both NaN.
    void same(std::int64_t row, std::int64_t col, double value, double expected);

    /// Bits that are `equal` or not.
    void compare_bits(std::int64_t row, std::int64_t col, bool equal, double value, double expected);

private:
    /// `off`: |value − expected|.
    void judge(std::int64_t row, std::int64_t col, double value, double expected, double bound, double off);
    void keep(std::int64_t row, std::int64_t col, double ratio, double value, double expected, double bound);

    Ledger* ledger_ = nullptr;
    std::string check_, subject_;
    std::int64_t elements_ = 0, wrong_ = 0;
    std::string first_wrong_;
    double worst_ratio_ = -1;
    std::int64_t worst_row_ = 0, worst_col_ = 0;
};

}  // namespace gnnbench
