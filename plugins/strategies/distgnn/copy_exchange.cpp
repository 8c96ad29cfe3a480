#include "copy_exchange.hpp"

namespace gnnbench::dist {
namespace {

std::vector<RowMessage> messages(MatrixView rows, Part parts, std::int64_t first, auto&& run_of) {
    std::vector<RowMessage> all;
    for (Part j = 0; j < parts; ++j)
        if (const Run run = run_of(j); run.count > 0)
            all.push_back({j, rows.rows_from(run.first - first, run.count)});
    return all;
}

}  // namespace

CopyExchange::CopyExchange(Backend& backend, Communicator& world, const HeldCopies& copies, std::int64_t widest)
    : backend_(backend),
      world_(world),
      copies_(copies),
      room_(backend.matrix(copies.most_lent(), widest)),
      lent_rows_(backend.upload(std::span<const std::int32_t>(copies.lent_rows()))) {}

void CopyExchange::state_memory(MemoryStatement& m, const HeldCopies& copies, std::int64_t widest) {
    m.matrix(copies.most_lent(), widest);
    m.list<std::int32_t>(copies.lent());
}

void CopyExchange::add_at_roots(int bin, MatrixView rows) {
    const MatrixView lent = room(bin, rows.cols);
    collect(bin, copies_of(rows, bin), lent);
    add(bin, lent, rows);
}

void CopyExchange::take_from_roots(int bin, MatrixView rows) {
    const MatrixView lent = room(bin, rows.cols);
    gather(bin, rows, lent);
    give_back(bin, lent, copies_of(rows, bin));
}

MatrixView CopyExchange::copies_of(MatrixView rows, int bin) const {
    const Run held = copies_.held(bin);
    return rows.rows_from(copies_.roots() + held.first, held.count);
}

MatrixView CopyExchange::room(int bin, std::int64_t columns) const {
    return room_.view().reshaped(copies_.lent(bin).count, columns);
}

void CopyExchange::collect(int bin, MatrixView copies, MatrixView lent) {
    world_.all_to_all_now(of_copies(bin, copies), of_lent(bin, lent));
}
void CopyExchange::give_back(int bin, MatrixView lent, MatrixView copies) {
    world_.all_to_all_now(of_lent(bin, lent), of_copies(bin, copies));
}
Event CopyExchange::start_collecting(Communicator& channel, int bin, MatrixView copies, MatrixView lent) const {
    return channel.all_to_all(of_copies(bin, copies), of_lent(bin, lent));
}
Event CopyExchange::start_giving_back(Communicator& channel, int bin, MatrixView lent, MatrixView copies) const {
    return channel.all_to_all(of_lent(bin, lent), of_copies(bin, copies));
}

// Part by part, because two parts may both have copies of one root.
void CopyExchange::add(int bin, MatrixView lent, MatrixView rows) {
    const std::int64_t first = copies_.lent(bin).first;
    for (Part j = 0; j < copies_.parts(); ++j) {
        const Run run = copies_.lent(bin, j);
        if (run.count > 0)
            backend_.scatter_add_rows(lent.rows_from(run.first - first, run.count), lent_rows_.data() + run.first,
                                      rows.rows_from(0, copies_.roots()));
    }
}

void CopyExchange::gather(int bin, MatrixView rows, MatrixView lent) {
    backend_.gather_rows(rows.rows_from(0, copies_.roots()), lent_rows_.data() + copies_.lent(bin).first, lent);
}

std::vector<RowMessage> CopyExchange::of_copies(int bin, MatrixView rows) const {
    return messages(rows, copies_.parts(), copies_.held(bin).first, [&](Part j) { return copies_.held(bin, j); });
}
std::vector<RowMessage> CopyExchange::of_lent(int bin, MatrixView rows) const {
    return messages(rows, copies_.parts(), copies_.lent(bin).first, [&](Part j) { return copies_.lent(bin, j); });
}

}  // namespace gnnbench::dist
