#include <gnnbench/batches/consensus.hpp>

#include <cmath>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// What a model is chosen by; a NaN never wins.
double merit(const Score& s) {
    const double validation = s.of[usize(static_cast<int>(Split::validation)) - 1],
                 train = s.of[usize(static_cast<int>(Split::train)) - 1];
    const double decides = std::isnan(validation) ? train : validation;
    return std::isnan(decides) ? -1 : decides;
}

}  // namespace

BestLocalModel::BestLocalModel(const Problem& problem, Rank rank)
    : problem_(problem),
      processes_(rank.processes),
      alone_(rank.processes.split(rank.processes.rank(), 0)),
      self_(rank.world.split(rank.world.rank(), 0)),
      alone_rank_{rank.backend, self_, alone_} {
    self_.separate_wait(false);
}

BestLocalModel::Judged BestLocalModel::judge(WholeGraphModel& model) const {
    Judged j{model.score(), 0};
    const double mine = merit(j.mine), best = processes_.maximum({mine})[0];
    // The lowest rank with the best: the others give a number beyond all ranks.
    const double rank = mine == best ? processes_.rank() : processes_.size();
    j.best = static_cast<int>(-processes_.maximum({-rank})[0]);
    return j;
}

Score BestLocalModel::score(const ModelWeights& mine) {
    WholeGraphModel model(problem_, mine, alone_rank_);
    Judged j = judge(model);
    processes_.broadcast(j.mine.of.data(), sizeof j.mine.of, j.best);
    return j.mine;
}

ModelWeights BestLocalModel::chosen(const ModelWeights& mine, ModelWeights of_mine) {
    if (processes_.size() == 1) return of_mine;
    WholeGraphModel model(problem_, mine, alone_rank_);
    const int best = judge(model).best;
    for (NamedMatrix& m : of_mine.matrices)
        processes_.broadcast(m.values.values.data(), m.values.values.size() * sizeof(double), best);
    return of_mine;
}

OwnedRows BestLocalModel::embeddings(const ModelWeights& mine) {
    WholeGraphModel model(problem_, mine, alone_rank_);
    if (judge(model).best == processes_.rank()) return model.embeddings();
    return {{}, HostMatrix(0, problem_.model.widths.back())};
}

}  // namespace gnnbench
