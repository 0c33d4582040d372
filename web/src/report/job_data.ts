// What the table of jobs shows: the jobs, and what one policy made of them.
import type { Outcomes, Requests } from '../data/jobs';

export interface JobData {
  requests: Requests;
  outcomes: Outcomes;
}
