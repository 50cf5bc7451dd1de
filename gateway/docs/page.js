// The reference page: the viewer, served by the gateway itself, over the gateway's own document.
window.ui = window.SwaggerUIBundle({
  url: '/v2/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelExpandDepth: 3,
  defaultModelsExpandDepth: 1,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
