//! The server: which requests are answered, and what an answer or error looks like.

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};

use super::arguments::shortened;
use super::tool::{Groups, Tool};
use super::{answer, prompts, resources, tools};
use crate::app::context::Context;
use crate::base::error::{Error, Result};
use crate::base::escape::message;
use crate::git::Env;
use crate::tokens::counter;
use crate::trace::TraceName;

const INSTRUCTIONS: &str = "Memory that outlives a session, kept in this git repository. Start with `brief`. Keep facts \
    with set_breadcrumb, context with trace_commit, and leave a note with forward_crumb_leave before you end.";

/// The methods whose parameters are known: one that arrives as a custom request has wrong parameters.
const METHODS: [&str; 8] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

type Request = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

pub(crate) struct Server {
    pub(crate) env: Env,
    pub(crate) trace: Option<TraceName>,
    pub(crate) groups: Groups,
}

impl Server {
    /// Each request is a separate operation in the operation log.
    fn context(&self, request: &str) -> Context {
        counter::clear();
        Context::in_memory(self.env.clone().with_command(format!("mcp {request}")), self.trace.clone())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("git-trace", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(&self, _: Page, _: Request) -> Result<ListToolsResult, ErrorData> {
        let listed = tools::offered(&self.groups).map(Tool::listed).collect::<Result<_>>();
        listed.map(ListToolsResult::with_all_items).map_err(|error| internal(&error))
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: Request) -> Result<CallToolResponse, ErrorData> {
        let tool = tools::offered(&self.groups).find(|tool| tool.name == request.name);
        let tool = tool.ok_or_else(|| unknown_tool(&request.name))?;
        let arguments = request.arguments.unwrap_or_default();
        let context = self.context(tool.name);
        let result = tool.call(&context, &arguments).and_then(|answer| Ok(answer.into_result(context.counter()?)));
        let result = counter::check().map_err(Error::from).and(result);
        let kept = context.recorded().map(|_| "\nnote: what it recorded until then is kept; trace_undo reverses it");
        Ok(result.unwrap_or_else(|error| answer::error(&(refusal(&error) + kept.unwrap_or_default()))).into())
    }

    async fn list_resources(&self, _: Page, _: Request) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::list(&self.context("resources/list"));
        listed.map(ListResourcesResult::with_all_items).map_err(|error| internal(&error))
    }

    async fn list_resource_templates(&self, _: Page, _: Request) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(&self.context("resources/read"), &request.uri);
        let read = counter::check().map_err(Error::from).and(read);
        let read = read.map_err(|error| ErrorData::resource_not_found(refusal(&error), None))?;
        Ok(ReadResourceResult::new(vec![read]).into())
    }

    async fn list_prompts(&self, _: Page, _: Request) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Request) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::get(&self.context("prompts/get"), &request.name);
        prompt.map(Into::into).map_err(|error| ErrorData::invalid_params(refusal(&error), None))
    }

    async fn on_custom_request(&self, request: CustomRequest, _: Request) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(format!("invalid parameters for {method}"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method: {}", shortened(&method)), None))
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let is_elsewhere = tools::all().any(|(.., tool)| tool.name == name);
    let more = if is_elsewhere { "; `git trace mcp --tools all` offers it" } else { "" };
    ErrorData::invalid_params(format!("unknown tool: {}{more}", shortened(name)), None)
}

fn refusal(error: &Error) -> String {
    let hint = error.hint().map(|hint| format!("\nhint: {}", message(hint))).unwrap_or_default();
    format!("error: {}{hint}", message(&format!("{error:#}")))
}

fn internal(error: &Error) -> ErrorData {
    ErrorData::internal_error(format!("{error:#}"), None)
}
