//! Routes for comparison, ranking and reports.

use super::cards::{publication_of_cards, require_known, with_results};
use crate::api::{
    Excluded, JobInfo, JobList, JobWorkload, NamedTitle, RankOrder, RankedCards, RankedPlace, RenderedPage,
};
use crate::extract::{JsonBody, query_values};
use crate::refusal::{RequestRefusal, Result};
use crate::rendering;
use crate::state::{ServerState, SharedState, run_blocking};
use axum::Json;
use axum::extract::RawQuery;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use cardscope_compare::page::{publication, ranking};
use cardscope_compare::verb::compare::MeasurementChoice;
use cardscope_compare::verb::jobs as known;
use cardscope_compare::verb::rank::{self, RankRequest, RankingKey};
use cardscope_model::job::{Job, JobWork};
use cardscope_model::publication::Publication;
use cardscope_model::ranking::RankedCard;
use std::collections::BTreeMap;

/// Limit of cards in a comparison.
const MAX_COMPARED: usize = 50;

/// Limit of a workload's weight, so that sums stay finite.
const MAX_WEIGHT: f64 = 1e6;

/// Compares cards by their ids.
#[utoipa::path(get, path = "/api/compare", tag = "analysis", params(("card" = Vec<String>, Query, description = "Ids of cards")), responses((status = 200, body = RenderedPage), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn compare(server: SharedState, RawQuery(query): RawQuery) -> Result<Json<RenderedPage>> {
    run_blocking(server, move |server| {
        let publication = publish_cards(server, query.as_deref())?;
        Ok(Json(rendering::render_document(&publication, publication::page::publication_page)))
    })
    .await
}

/// Downloads a report on cards: html, markdown, csv, json, svg, png, plotly, crystaldiskmark or kdiskmark.
#[utoipa::path(get, path = "/api/report", tag = "analysis", params(("card" = Vec<String>, Query, description = "Ids of cards"), ("format" = Option<String>, Query, description = "html unless said otherwise")), responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn report(server: SharedState, RawQuery(query): RawQuery) -> Result<Response> {
    run_blocking(server, move |server| {
        let name = query_values(query.as_deref(), "format").pop().unwrap_or_else(|| "html".to_owned());
        let format = publication::format_by_name(&name)
            .ok_or_else(|| RequestRefusal::unprocessable(format!("there is no format {name:?}")))?;
        let publication = publish_cards(server, query.as_deref())?;
        let bytes = (format.write)(&publication).map_err(RequestRefusal::invalid)?;
        let file = format!("attachment; filename=\"cardscope.{}\"", format.extension);
        let headers = [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, file)];
        Ok((headers, bytes).into_response())
    })
    .await
}

/// Lists jobs and hosts to rank cards for.
#[utoipa::path(get, path = "/api/jobs", tag = "analysis", responses((status = 200, body = JobList)))]
pub(super) async fn jobs(server: SharedState) -> Result<Json<JobList>> {
    run_blocking(server, |_| {
        let jobs = known::builtin_jobs()?.into_iter().map(|job| {
            let all: f64 = job.work.iter().map(|work| work.weight).sum();
            let workload = |w: &JobWork| JobWorkload { name: w.what.clone(), weight: w.weight / all };
            JobInfo { workloads: job.work.iter().map(workload).collect(), name: job.name, title: job.title }
        });
        let hosts = known::builtin_hosts()?.into_iter();
        let hosts = hosts.map(|host| NamedTitle { name: host.name, title: host.title });
        Ok(Json(JobList { jobs: jobs.collect(), hosts: hosts.collect() }))
    })
    .await
}

/// Ranks cards for a job, optionally with other weights and a host.
#[utoipa::path(post, path = "/api/rank", tag = "analysis", request_body = RankOrder, responses((status = 200, body = RankedCards), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn rank(
    server: SharedState,
    JsonBody(order): JsonBody<RankOrder>,
) -> Result<Json<RankedCards>> {
    run_blocking(server, move |server| rank_cards(server, order).map(Json)).await
}

fn rank_cards(server: &ServerState, order: RankOrder) -> Result<RankedCards> {
    let job = known::builtin_job(&order.job)
        .map_err(|_| RequestRefusal::unprocessable(format!("there is no job {:?}", order.job)))?;
    let by = RankingKey::CustomJob(Box::new(apply_weights(job, &order.weights)?));
    if let Some(host) = &order.host
        && known::builtin_hosts()?.iter().all(|known| known.name != *host)
    {
        return Err(RequestRefusal::unprocessable(format!("there is no host {host:?}")));
    }
    let archive = server.archive_option();
    let choice = MeasurementChoice { without_collection: order.own, archive, ..MeasurementChoice::default() };
    let cards = require_known(server, order.cards)?;
    let request = RankRequest { cards, job: None, on: order.host, group_by: Vec::new(), choice };
    let ranking = rank::rank_cards_by(&request, &by)?;
    let made = rendering::render_document(&ranking, ranking::ranking_page);
    let place = |card: RankedCard| RankedPlace {
        placement: card.placement,
        card: card.entry.card_id,
        title: card.entry.name,
        score: card.value,
        ci95: card.ci95,
        price: card.price,
        per_price: card.per_price,
    };
    let excluded = ranking.excluded.into_iter().map(|card| (card.name, card.reason));
    let excluded = excluded.chain(ranking.not_placed).map(|(name, reason)| Excluded { name, reason });
    Ok(RankedCards {
        answer: made.answer,
        html: made.html,
        places: ranking.places.into_iter().map(place).collect(),
        excluded: excluded.collect(),
    })
}

/// Applies weights to a job; workloads of weight 0 are dropped.
fn apply_weights(mut job: Job, weights: &BTreeMap<String, f64>) -> Result<Job> {
    for (name, weight) in weights {
        let Some(work) = job.work.iter_mut().find(|work| work.what == *name) else {
            let why = format!("job {} has no workload {name:?}", job.name);
            return Err(RequestRefusal::unprocessable(why));
        };
        if !(0.0..=MAX_WEIGHT).contains(weight) {
            let why = format!("the weight of {name:?} must be a number from 0 to {MAX_WEIGHT}");
            return Err(RequestRefusal::unprocessable(why));
        }
        work.weight = *weight;
    }
    job.work.retain(|work| work.weight > 0.0);
    match job.work.is_empty() {
        true => Err(RequestRefusal::unprocessable("all weights are 0; give one of them more")),
        false => Ok(job),
    }
}

/// Publishes the cards of the query. Cards are given by id, since a name could be that of a file; cards without
/// measurements are left out.
fn publish_cards(server: &ServerState, query: Option<&str>) -> Result<Publication> {
    let asked = require_known(server, query_values(query, "card"))?;
    if asked.is_empty() || asked.len() > MAX_COMPARED {
        return Err(RequestRefusal::unprocessable(format!("choose 1 to {MAX_COMPARED} cards")));
    }
    let cards = with_results(server, asked)?;
    if cards.is_empty() {
        let why = "nothing was measured of these cards; check or benchmark them first";
        return Err(RequestRefusal::unprocessable(why));
    }
    publication_of_cards(server, cards)
}
